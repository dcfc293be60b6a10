"""A server of the page in the browser's own process, with the state that a test gives it."""

import json
import mimetypes
import time

import jsonschema

from tenner_host import page_files
from tenner_host.heartbeat import check
from tenner_host.heartbeat.replay import Readings, replay
from tenner_host.web.fleet_site import openapi_document
from tests.host.test_web_page import DOCUMENT, closed

ADDRESS = "http://board.test/"
_API = "/api/v1"


def task(line, condition=None, state="clear", value=None, **fields):
    """A task of HEARTBEAT.md as the board reports it."""
    found = {"line": line, "text": f"Text of line {line}.", "next_s": 40, "last_run": None}
    if condition:
        alarm = line if state.startswith(("active", "acknowledged")) else None
        found |= {"condition": condition, "value": value, "state": state, "alarm": alarm}
        found["told"] = None
    return found | fields


def sensor(name, value, unit="", age_s=60, points=None, **fields):
    """A value with readings of a day, each ten minutes."""
    now = int(time.time())
    if points is None:
        points = [[now - age_s - at * 2400, value] for at in range(34, -1, -1)]
    return {
        "name": name,
        "unit": unit,
        "value": value,
        "at": now - age_s,
        "since": now - 86400,
        "points": [[at - now + 86400, value] for at, value in points],
    } | fields


def tile(name, age_s=5, **fields):
    """A board of a fleet."""
    return {
        "topic": f"tenner/{name}",
        "name": name,
        "status": "online",
        "version": "0.9.0",
        "up_s": 180,
        "heap_free_kb": 81,
        "sensors": [{"name": "room.heat_index", "unit": "°C", "value": 31.5}],
        "seen": int(time.time()) - age_s,
        "pause_s": 60,
        "page": None,
        "alarms": [],
        "problem": None,
    } | fields


class StandIn:
    """
    Answers every request of a context. Each answer fits the description of the API. `asked` has
    (method, path, body) of each request; `fails` has, for a path, a status and a sentence.
    """

    def __init__(
        self, tasks=(), sensors=(), name="kitchen", offers=("replay", "sensors"), main="app.js"
    ):
        self.name = name
        self.tasks = list(tasks)
        self.sensors = list(sensors)
        self.offers = list(offers)
        self.decisions = []
        self.problem = None
        self.has_agent = True
        self.agent_at = None
        self.messages = []
        self.waiting = False
        self.heartbeat = "# Heartbeat\n"
        self.version = "1"
        #: SENSORS.json, for the check of HEARTBEAT.md.
        self.known = None
        #: The chips on its buses, and why the next one does not become a sensor.
        self.chips = []
        self.refuses = None
        self.settings = []
        self.runs = []
        self.guest = False
        self.restarts_for_files = False
        self.is_away = False
        self.hangs = False
        #: Paths that get no answer.
        self.slow = []
        self.start = "a"
        self.asked = []
        self.fails = {}
        self.tiles = []
        self._main = main
        self._files = page_files.page(main)
        self._held = []

    def join(self, context):
        """Take the requests of this browser."""
        context.route(f"{ADDRESS}**", self._answer)

    def release(self):
        """Answer the requests that hang, and all later ones."""
        self.hangs = False
        held, self._held = self._held, []
        for route in held:
            self._answer(route)

    def board(self):
        return {
            "label": "/dev/ttyUSB0",
            "name": self.name,
            "state": "connected",
            "text": "",
            "restarts_for_files": self.restarts_for_files,
        }

    def now(self):
        status = {
            "lines": ["tenner 0.9.0, MicroPython", "up 0 h 3 min, heap 81 KB free, 40 KB used"],
            "version": "0.9.0",
            "up_s": 180,
            "heap_free_kb": 81,
            "network": "up",
        }
        agent = {
            "at": self.agent_at or int(time.time()),
            "status": status,
            "tasks": self.tasks,
            "decisions": self.decisions,
            "next_s": 40,
        }
        return {
            "board": self.board(),
            "problem": self.problem,
            "agent": agent if self.has_agent else None,
            "sensors": self.sensors,
            "files_at": int(time.time()),
        }

    def say(self, who, text, failed=False, **fields):
        """Add a message to the conversation."""
        number = len(self.messages) + 1
        self.messages.append(
            {
                "number": number,
                "who": who,
                "text": text,
                "failed": failed,
                "time": int(time.time()),
                **fields,
            }
        )

    def _answer(self, route):
        request = route.request
        path = request.url.removeprefix(ADDRESS.rstrip("/")).partition("?")[0]
        if (self.hangs and path.startswith(_API)) or path in self.slow:
            # Neither an answer nor an end, as of a board without power.
            self._held.append(route)
            return
        if self.is_away:
            route.abort("connectionrefused")
            return
        if not path.startswith(_API):
            name = path.removeprefix("/") or "index.html"
            kind = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0]
            route.fulfill(body=self._files[name], content_type=kind)
            return
        path = path.removeprefix(_API)
        body = json.loads(request.post_data) if request.post_data else None
        self.asked.append((request.method, path, body))
        if path == "/events":
            text = "retry: 4000\n\n"
            route.fulfill(
                body=text, content_type="text/event-stream", headers={"Tenner-Start": self.start}
            )
            return
        if (found := self.fails.get((request.method, path))) is not None:
            route.fulfill(status=found[0], json={"error": found[1]})
            return
        if path == "/readings.csv":
            rows = [
                f'{time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))},"{one["name"]}",{value:g}'
                for one in self.get_readings(None)[1]["series"]
                for at, value in one["points"]
            ]
            route.fulfill(body="\n".join(["time,name,value", *rows, ""]), content_type="text/csv")
            return
        name = f"{request.method.lower()}_{path.strip('/').replace('/', '_')}"
        status, answer = getattr(self, name)(body)
        content = self._document()["paths"][path][request.method.lower()]["responses"][str(status)]
        schema = content["content"]["application/json"]["schema"]
        jsonschema.validate(
            answer, {**schema, "components": closed(self._document()["components"])}
        )
        route.fulfill(status=status, json=answer)

    def _document(self):
        return DOCUMENT if self._main == "app.js" else json.loads(openapi_document())

    def get_fleet(self, _):
        return 200, {"connected": True, "tiles": self.tiles}

    def get_session(self, _):
        if self._main != "app.js":
            return 200, {"version": "0.9.0", "guest": False, "place": "tenner/ on localhost"}
        return 200, {
            "version": "0.9.0",
            "board": self.board(),
            "offers": self.offers,
            "guest": self.guest,
            "missing": {},
        }

    def get_now(self, _):
        return 200, self.now()

    def post_files_read(self, _):
        return 200, {"files_at": int(time.time()), "board": self.board()}

    def post_alarms(self, body):
        return 200, {"answer": f"{body['action']} {body['id']} {body.get('duration', '')}"}

    def post_tasks_run(self, body):
        return 200, {"answer": "It runs."}

    def get_chat(self, _):
        return 200, {"messages": self.messages, "question": None, "waiting": self.waiting}

    def post_chat(self, body):
        self.say("you", body["text"])
        self.waiting = True
        return 202, self.get_chat(None)[1]

    def post_sensors_find(self, _):
        return 200, {"found": self.chips, "drivers": ["bh1750", "dht22", "sht31", "sht3x"]}

    def post_sensors(self, body):
        if self.refuses:
            return 400, {"error": f"{body['name']} is not added: {self.refuses}"}
        self.sensors.append(sensor(f"{body['name']}.temperature", 21.5, "°C", age_s=1))
        return 200, {"answer": f"{body['name']} is a sensor now: temperature 21.5 °C"}

    def get_heartbeat(self, _):
        return 200, {
            "text": self.heartbeat,
            "version": self.version,
            **self._checked(self.heartbeat),
        }

    def _checked(self, text):
        return check.for_a_page(text, self.known and json.dumps(self.known).encode(), {})

    def put_heartbeat(self, body):
        if body["version"] != self.version:
            return 409, {"error": "the agent has changed HEARTBEAT.md meanwhile: read it again"}
        self.heartbeat, self.version = body["text"], str(int(self.version) + 1)
        return self.get_heartbeat(None)

    def post_heartbeat_check(self, body):
        return 200, self._checked(body["text"])

    def post_heartbeat_replay(self, body):
        readings = Readings()
        for one in self.get_readings(None)[1]["series"]:
            for at, value in one["points"]:
                readings.add(at, one["name"], float(value))
        return 200, replay(body["text"], readings)

    def get_log(self, _):
        return 200, {"last_event": 0, "lines": [], "runs": self.runs}

    def get_readings(self, _):
        found = []
        for one in self.sensors:
            points = [[at + one["since"], value] for at, value in one["points"]]
            found.append({"name": one["name"], "unit": one["unit"], "points": points})
        return 200, {"series": found}

    def get_settings(self, _):
        return 200, {"settings": self.settings}

    def get_update(self, _):
        return 200, {"board_version": "0.9.0", "computer_version": "0.9.0"}
