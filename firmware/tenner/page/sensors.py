# tenner page.sensors: finds chips, and adds a sensor, from the page.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.page.request import Refused
from tenner.sensors import command, finding
from tenner.sensors.errors import SensorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.page.channel import Page
    from tenner.page.connection import Connection
    from tenner.page.request import Request


async def find(page: "Page", connection: "Connection", request: "Request") -> None:
    """Send the chips on the buses, and the names of all drivers."""
    # The phase of readings, for the bus.
    await connection.answer(200, await overlay.step("SAMPLE", _find, page.app.get))


async def add(page: "Page", connection: "Connection", request: "Request") -> None:
    """Read a sensor with these settings, and keep it if it answers."""
    app = page.app
    words = _words_of(request)
    text = await overlay.once("SAMPLE", command.add, app.get, app.config, words)
    if command.NOT_ADDED in text:
        raise Refused(400, text)
    await connection.answer(200, {"answer": text})


def _words_of(request):
    """Return the words of `/sensors add` that a request asks for."""
    settings = request.object().get("settings")
    if not isinstance(settings, dict):
        raise Refused(400, "settings must be an object")
    words = [request.text("name", 64), request.text("driver", 40)]
    words.extend(["%s=%s" % (key, settings[key]) for key in settings])
    if any(len(word.split()) != 1 for word in words):
        raise Refused(400, "a name and a setting are one word each")
    return words


async def _find(get):
    sensors = get("sensors")
    try:
        found = list(finding.find(sensors.port, sensors.workspace))
    except SensorError as error:
        found = [{"bus": "", "problem": str(error)}]
    return {"found": found, "drivers": finding.drivers()}
