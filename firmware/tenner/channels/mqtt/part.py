# tenner channels.mqtt.part: makes the channel, and names its services; see channels.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.channels.mqtt.channel import Mqtt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tenner.channels.mqtt.types import Making


def make(app: "Making") -> Mqtt:
    """Return the channel."""
    mono_s = app.clock.mono_s
    return Mqtt(app.config, app.port, app.tls, app.inbox, app.get, app.linked, mono_s, app)


def services(app: "Making", channel: Mqtt) -> "Iterator[tuple[str, Callable]]":
    """Yield its services."""
    app.mqtt = channel
    yield "mqtt", channel.run
    yield "readings", channel.readings
