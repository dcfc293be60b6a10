# tenner remote.serve: answers the owner's computer: state, restart, update.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A request is a line of JSON, then its body. `do` names the command, the rest are its arguments. The
parts of a reply are its body; the last one is JSON: the result, or `error` with a sentence.

A channel is Mqtt, or page.sealed.Computer for requests that come over HTTP.
"""

import json
import os
import sys

from tenner import __version__, overlay
from tenner.agent.message_queue import Message
from tenner.log import log
from tenner.port.compat import const
from tenner.remote import change, look, session
from tenner.store import files, json_strict
from tenner.update import request, slot, trial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.remote.types import Carrier, Remote
    from tenner.update.types import Updating


#: The topic of replies, below that of the board.
_TOPIC = "remote/out"
_PART = const(1024)


class Reply:
    """The reply to one request."""

    def __init__(self, channel: "Carrier") -> None:
        self.channel = channel
        self._session = channel.session
        self._number = channel.session[0]
        #: The parts so far.
        self.part = 0

    async def send(self, data: bytes, is_last: bool = False) -> None:
        """Send the next part; OSError if it cannot arrive."""
        frame = session.reply(self._session, self._number, self.part, data, is_last)
        self.part += 1
        if not await self.channel.publish(_TOPIC, frame):
            raise OSError("the broker did not acknowledge a reply to the owner's computer")

    async def end(self, result: "dict[str, Any]") -> None:
        await self.send(json.dumps(result).encode(), True)


async def take(channel: "Carrier", data: bytes) -> None:
    """Answer one message; drop it with a line in the log unless it is the owner's."""
    channel.requests -= 1
    try:
        if session.is_opening(data):
            answer, made = session.begin(channel.port.root, channel.id, data)
            if made:
                channel.session = made
            if answer:
                await channel.publish(_TOPIC, answer)
        elif channel.session:
            content = session.request(channel.session, data)
            if content is not None:
                reply = Reply(channel)
                try:
                    await _answer(channel.app, reply, content)
                except MemoryError:
                    if not reply.part:
                        # Nothing was sent: overlay.step repeats it, or the computer does.
                        channel.session[0] -= 1
                    raise
    except OSError as error:
        log("remote", error)


async def _answer(app: "Remote", reply, content):
    line, _, body = content.partition(b"\n")
    try:
        request = json_strict.loads(line)
        if not isinstance(request, dict) or not isinstance(request.get("do"), str):
            raise ValueError("the request is no object that says what to do")
        result = await _run(app, reply, request["do"], request, body)
    except KeyError as error:
        result = {"error": "the request lacks %s" % error}
    except (AttributeError, IndexError, TypeError) as error:
        # A member of another type than ours.
        log("remote", error)
        result = {"error": "the request is wrong: %s" % error}
    except (OSError, ValueError) as error:
        log("remote", error)
        result = {"error": str(error)}
    except overlay.OutOfMemory:
        result = {"error": "the board has too little memory for that now: try again"}
    await reply.end(result)
    if result.get("restart"):
        if hasattr(reply.channel, "left"):
            await reply.channel.left()
        await restart(app)


async def _run(app: "Remote", reply, name, request, body):
    if name == "info":
        return info(app)
    if name == "say":
        # Its code is evicted before the command.
        owner = app.owner()
        text = await overlay.step("COMMAND", _command, app, *owner, request["text"])
        data = text.encode()
        for at in range(0, len(data), _PART):
            await reply.send(data[at : at + _PART])
        return {}
    if name == "restart":
        return {"restart": True}
    if name == "end":
        reply.channel.session = None
        return {}
    if name == "update":
        return accept(app, request, body)
    if name == "list":
        return await look.list_files(app, reply, request["roots"])
    path = request["path"]
    if name == "read":
        return await look.read_file(app, reply, path, request["at"])
    if name == "write":
        return change.write(app, path, request["at"], request["size"], body)
    if name == "commit":
        lifeline = reply.channel.name
        return change.commit(app, path, request["sha256"], request["old"], lifeline)
    if name == "remove":
        return change.remove(app, path, request["old"])
    raise ValueError("this board knows no request %s: update it" % name)


async def _command(app: "Remote", channel, chat, text):
    return await app.command_text(Message(channel, chat, text))


def info(app: "Updating") -> "dict[str, Any]":
    """Return the facts of the computer's `Info` (tenner_host/board/info.py), and the state of an
    update."""
    root = app.port.root
    trial = root + "/lib/trial"
    space = os.statvfs(root + "/")
    free, used = app.port.memory()
    of = sys.implementation
    return {
        "micropython": ".".join([str(one) for one in of.version[:3]]),
        "mpy": getattr(of, "_mpy", 0),
        "machine": getattr(of, "_machine", sys.platform),
        "build": getattr(of, "_build", ""),
        "platform": sys.platform,
        "agent": __version__,
        "block": space[1] or space[0],
        "blocks": space[2],
        "free": space[3],
        "heap_free": free,
        "heap_used": used,
        "up_s": app.clock.mono_s(),
        "slots": slot.count(),
        "updating": app.updating,
        "trial": files.read_text(trial) if files.exists(trial) else "",
    }


async def restart(app: "Updating") -> None:
    """Restart the board, after its reply is on the way."""
    await overlay.step("UPDATE", trial.restart, app)


def accept(app: "Updating", wanted: "dict[str, Any]", certificate: bytes) -> "dict[str, Any]":
    """Install the version that the computer serves at `address`, `port` and `path`, after the
    reply; facts.OUTCOME then says how it ended. ValueError if that cannot begin now."""
    if not slot.is_possible(app):
        raise ValueError("this agent is no ESP32's with its code as files: use the cable or ssh")
    if files.exists(app.port.path("lib/trial")):
        raise ValueError("the trial of the last update is not over yet")
    if app.updating:
        raise ValueError("another update is running")
    computer = wanted["address"], wanted["port"], wanted["path"], certificate
    version = wanted["version"]
    files.remove(app.state + slot.OUTCOME)
    # It waits for the memory, so the reply goes first.
    overlay.later("UPDATE", None, request.run, app, None, None, version, computer)
    return {}
