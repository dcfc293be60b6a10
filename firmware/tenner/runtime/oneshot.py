# tenner runtime.oneshot: runs a single turn or beat from the command line, without the services.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import sys

from tenner import log
from tenner.agent import cut_off
from tenner.agent.turn import Turn
from tenner.app import App
from tenner.channels.console import KEPT
from tenner.schedule import status


def once(root: str, config: str | None, workspace: str | None, text: str) -> int:
    """Run one turn and print the reply; return the exit code."""
    return _with_app(root, config, workspace, lambda app: _once(app, text))


def heartbeat(root: str, config: str | None, workspace: str | None) -> int:
    """Run one beat and print the decision, its reason and the messages it would send; return the
    exit code."""
    return _with_app(root, config, workspace, _beat)


def _to_stderr(line):
    print(line, file=sys.stderr)


def _with_app(root, config, workspace, action):
    log.write = _to_stderr
    try:
        app = App(root, config, workspace)
        wrong = app.wrong[:1]
    except ValueError as error:
        wrong = [error]
    if wrong:
        print("tenner: %s" % wrong[0])
        return 2
    try:
        return asyncio.run(action(app))
    finally:
        asyncio.new_event_loop()


async def _once(app, text):
    app.deliver = _print_message
    app.spawn = _no_spawn
    turn = Turn(app.agent, "person", text + "\n\n(now: %s)" % app.now_text(), "console", "owner")
    turn.on_result = _parts_follow
    result = await app.agent.lane.person("console:owner", turn)
    if result.error is not None:
        _show("tenner: " + result.error)
        return 1
    for part in cut_off.parts(app.agent, result):
        print(log.visible(part, KEPT), end="")
    print("" if result.kept or result.text else "(The model gave no text.)")
    return 0


def _parts_follow(result):
    """Let the beginning of a long answer go to flash."""


def _no_spawn(text, turn):
    return "error: nothing runs in the background of a single turn: do it now, by yourself"


def _print_message(channel, chat, text, alert=False):
    _show("message to %s:%s: %s" % (channel, chat, text))


def _show(text):
    """Print a text that strangers may have written."""
    print(log.visible(text, KEPT))


async def _beat(app):
    sent = []

    async def deliver(app, text, alert):
        sent.append(text)
        return "queued"

    heartbeat = app.get("heartbeat")
    heartbeat.deliver = deliver
    _show(await status.heartbeat(heartbeat))
    # True: ignore due times and active hours, and report alarms as they are.
    action, reason = await heartbeat.step(True)
    _show("decision: %s (%s)" % (action, reason))
    for text in sent:
        _show("would send: " + text)
    if not sent:
        print("would send: nothing")
    return 0
