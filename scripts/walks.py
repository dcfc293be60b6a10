"""Write or check the walks in docs/architecture.md: the functions that a message, a beat and an
update pass, traced while the agent's own code runs.

The tests' stand-ins play Telegram, the model, the clock and the web server; nothing leaves the
process.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import functools
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import generated
from tenner_host import FIRMWARE, ROOT

TARGET = ROOT / "docs" / "architecture.md"
_BEGIN = "<!-- made by scripts/walks.py: {} -->\n"
_CODE = str(FIRMWARE / "tenner") + os.sep
#: Nearly every module uses these, so they say nothing about a walk.
_EVERYWHERE = (
    "app",
    "log",
    "overlay",
    "overlay_loader",
    "agent/health",
    "net/clock",
    "runtime/boot",
    "store/appendlog",
    "store/config",
    "store/files",
    "store/json_strict",
    "store/posix_tz",
    "store/quarantine",
    "store/two_slot",
)
_EVERYWHERE_IN = ("net/json/", "port/", "store/outbox_")
_RECORD = "--record"
#: A row names so many functions of a module.
_NAMES = 4
_ROWS = 24
_SETTINGS = {
    "telegram": {"token": "77:secret", "owner": 1000},
    "llm": {"base_url": "https://llm.example/v1", "api_key": "k", "model": "m"},
    "update": {"url": "https://release.example/tenner.release"},
}
_BEAT = "- (every 1m; when board.uptime >= 0; notify) It runs.\n"

#: (module, function or Class.method, calling module), in the order of first calls.
Steps = list[tuple[str, str, str]]


class Trace:
    """`with trace:` records the calls of the firmware's functions, each once for each calling
    module."""

    def __init__(self) -> None:
        self.steps: Steps = []
        self._known: set[tuple[str, str]] = set()

    def __enter__(self) -> Trace:
        sys.setprofile(self.note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def note(self, frame: FrameType, event: str, _: object) -> None:
        module = _module(frame)
        if event != "call" or not module:
            return
        # Functions inside of others have no name of their own here.
        name = _functions(module).get(frame.f_code.co_firstlineno, ("", ""))[0]
        caller = frame.f_back
        # Through the event loop, and the phases of the memory.
        while caller is not None and _module(caller) in ("", "overlay"):
            caller = caller.f_back
        step = (module, name, _module(caller) if caller else "")
        # The versions of Python differ in the frame that ends a generator; its first call counts.
        if frame.f_code.co_flags & inspect.CO_GENERATOR and step[:2] in self._known:
            return
        if name and step not in self.steps:
            self.steps.append(step)
            self._known.add(step[:2])


def _module(frame: FrameType) -> str:
    """`agent/turn` for a frame in firmware/tenner/agent/turn.py, "" for one of others."""
    path = frame.f_code.co_filename
    return path[len(_CODE) : -len(".py")] if path.startswith(_CODE) else ""


@functools.cache
def _functions(module: str) -> dict[int, tuple[str, str]]:
    """(function or Class.method, the first sentence about it) by the first line."""
    found = {}
    tree = ast.parse((FIRMWARE / "tenner" / f"{module}.py").read_text(encoding="utf-8"))
    classes = [one for one in tree.body if isinstance(one, ast.ClassDef)]
    for within, body in [("", tree.body), *((f"{one.name}.", one.body) for one in classes)]:
        for one in body:
            if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([one.lineno, *(decorator.lineno for decorator in one.decorator_list)])
                about = " ".join((ast.get_docstring(one) or "").split())
                sentence = re.split(r"(?<=[.;]) ", about, maxsplit=1)[0].rstrip(".;")
                found[first] = (within + one.name, sentence)
    return found


# --- the walks


class _Restart(BaseException):
    """The board restarts."""


@contextlib.asynccontextmanager
async def _board(files: dict[str, str], *replies: Any) -> AsyncIterator[tuple[Any, Any]]:
    """Yield (the application with Telegram as its channel, the stand-in of Telegram)."""
    import channels_fakes  # type: ignore[import-not-found]
    import llm_fakes  # type: ignore[import-not-found]
    import schedule_sim  # type: ignore[import-not-found]
    from tenner.app import App
    from tenner.channels.telegram import part

    with tempfile.TemporaryDirectory() as folder:
        for path, text in {"config.json": json.dumps(_SETTINGS), **files}.items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_text(text, encoding="utf-8")
        app = App(folder)
        app.clock = app.agent.lane._clock = schedule_sim.Clock(schedule_sim.START, True)
        app.clock.known = app.clock.now
        app.connected.set()
        model, telegram = llm_fakes.Http(*replies), channels_fakes.FakeTelegram()
        app.http = lambda yields=False: model
        app.get("chain")
        app.http = lambda yields=False: telegram
        app.start_sending = lambda: None
        app.telegram = part.make(app)
        part.services(app, app.telegram)
        yield app, telegram


def _said(delta: dict[str, Any], why: str) -> Any:
    """A reply of the model, as a stream of one event."""
    import llm_fakes

    event = json.dumps({"choices": [{"delta": delta, "finish_reason": why}]})
    return llm_fakes.Response([f"data: {event}\n\ndata: [DONE]\n\n".encode()])


async def _message(trace: Trace) -> None:
    import channels_fakes
    from tenner.runtime import services

    def is_idle() -> None:
        raise channels_fakes.Stop

    call = {"name": "list_dir", "arguments": '{"path":"/workspace"}'}
    replies = (
        _said({"tool_calls": [{"index": 0, "id": "a", "function": call}]}, "tool_calls"),
        _said({"content": "One file."}, "stop"),
    )
    async with _board({"workspace/AGENTS.md": "Be brief.\n"}, *replies) as (app, telegram):
        telegram.say("Which files are there?")
        telegram.when_idle = is_idle
        with trace:
            with contextlib.suppress(channels_fakes.Stop):
                await app.telegram.poll()
            await services._serve(app, await app.inbox.get())
            await app.get("delivery").drain()
        _expect(telegram.sent, "One file.")


async def _beat(trace: Trace) -> None:
    sensors = '{"board": {"driver": "cpu"}}'
    files = {"workspace/HEARTBEAT.md": _BEAT, "workspace/SENSORS.json": sensors}
    async with _board(files) as (app, telegram):
        heartbeat = app.get("heartbeat")
        await heartbeat.step()
        app.clock.pass_s(90)
        with trace:
            await heartbeat.step()
        await app.get("delivery").drain()
        _expect(telegram.sent, "It runs.")


async def _update(trace: Trace) -> None:
    import llm_fakes
    import update_fakes  # type: ignore[import-not-found]
    from tenner.update import request, trial

    class Web:
        async def exchange(self, method: str, url: str, headers: Any, *rest: Any) -> Any:
            return await rest[1](llm_fakes.Response([data + update_fakes.content()]))

        async def close(self) -> None:
            pass

    def restart() -> None:
        raise _Restart

    async def pass_time(seconds: float) -> None:
        app.clock.pass_s(60)
        sys.setprofile(None)
        await app.get("delivery").drain()
        sys.setprofile(trace.note)

    data = update_fakes.sign(update_fakes.lines())
    files = {
        "lib/release.keys": update_fakes.KEY,
        "lib/tenner/pins.csv": "A0,GPIO0\n",
        "workspace/AGENTS.md": "Be brief.\n",
    }
    async with _board(files) as (app, telegram):
        app.telegram.status = "polling"
        app.port.kind, app.port.reset = "esp32", restart
        over_telegram, over_web = app.http, lambda yields=False: Web()
        with trace:
            app.http = over_web
            await request.look(app, "telegram", 1000)
            with contextlib.suppress(_Restart):
                await request.run(app, "telegram", 1000, "0.9.0")
        app.http = over_telegram
        # boot_trial.py does this, before the new code runs.
        os.rename(app.port.path("lib/trial.new"), app.port.path("lib/trial"))
        app.get("heartbeat").looked = True
        trial.asyncio = type("Time", (), {"sleep": staticmethod(pass_time)})
        with trace:
            with contextlib.suppress(_Restart):
                await trial.run(app)
            await trial.passed(app)
        _expect(telegram.sent, "I run version 0.9.0 now")


def _expect(sent: list[dict[str, Any]], text: str) -> None:
    """Fail unless the walk has led to this message."""
    if not any(text in one["text"] for one in sent):
        raise SystemExit(f"the walk did not end: {text!r} is not in {sent}")


_WALKS: dict[str, Callable[[Trace], Coroutine[Any, Any, None]]] = {
    "a message": _message,
    "a beat": _beat,
    "an update": _update,
}


async def _at_once(work: Awaitable[Any], _seconds: float | None) -> Any:
    """asyncio.wait_for, which runs its work in a task or not, as the version of Python likes."""
    return await work


def _record() -> dict[str, Steps]:
    """Walk; the steps of each walk."""
    for folder in ("firmware", "tests"):
        sys.path.insert(0, str(ROOT / folder))
    from tenner.port import compat

    # A busy computer takes no other way: time stands still but for the clock.
    real_sleep = asyncio.sleep
    asyncio.sleep = lambda seconds, result=None: real_sleep(seconds and 3600, result)
    asyncio.wait_for = _at_once  # type: ignore[assignment]
    compat.sleep_ms = asyncio.sleep
    compat.ticks_ms = lambda: 0
    found = {}
    for name, walk in _WALKS.items():
        trace = Trace()
        with contextlib.redirect_stdout(sys.stderr):
            asyncio.run(walk(trace))
        found[name] = trace.steps
    return found


# --- the tables


def _folded(steps: Steps) -> dict[str, list[str]]:
    """The public functions that other modules call, by module: of the modules with the most links
    to others, in the order of first calls. A link to another package counts twice."""
    found: dict[str, list[str]] = {}
    links: dict[str, set[tuple[str, int]]] = {}
    for module, name, caller in steps:
        if caller == module or _is_everywhere(module):
            continue
        for weight in range(1 + (_package(module) != _package(caller))):
            links.setdefault(module, set()).add((caller, weight))
            links.setdefault(caller, set()).add((module, weight))
        if name not in found.setdefault(module, []) and "._" not in f".{name}":
            found[module].append(name)
    ranked = sorted((one for one in found if found[one]), key=lambda one: -len(links[one]))
    return {one: found[one] for one in found if one in ranked[:_ROWS]}


def _is_everywhere(module: str) -> bool:
    return module in _EVERYWHERE or module.startswith(_EVERYWHERE_IN)


def _package(module: str) -> str:
    return module.partition("/")[0]


def _table(steps: Steps) -> str:
    rows = ["| module | functions | the first of them |", "|---|---|---|"]
    for module, names in _folded(steps).items():
        about = dict(_functions(module).values())
        shown = ", ".join(f"`{name}`" for name in names[:_NAMES]) + ", …" * (len(names) > _NAMES)
        sentence = next((about[name] for name in names if about[name]), "")
        rows.append(f"| `{module}` | {shown} | {sentence.replace('|', '&#124;')} |")
    return "\n".join(rows) + "\n"


@functools.cache
def tables() -> dict[str, str]:
    """The table of each walk."""
    return {name: _table(steps) for name, steps in recorded().items()}


def recorded(python: str = sys.executable, seed: int = 0) -> dict[str, Steps]:
    """The steps of each walk, from a process of its own: firmware and stand-ins change the modules
    that they import. SystemExit with its output if a walk fails."""
    env = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT / "host_tools")}
    command = [python, __file__, _RECORD]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        raise SystemExit(f"scripts/walks.py: a walk failed\n{done.stderr}")
    return {
        name: [tuple(step) for step in steps] for name, steps in json.loads(done.stdout).items()
    }


def page() -> str:
    """The page, with its walks renewed."""
    text = TARGET.read_text(encoding="utf-8")
    for name, table in tables().items():
        text = generated.replaced(text, _BEGIN.format(name), table, str(TARGET))
    return text


if __name__ == "__main__":
    if sys.argv[1:] == [_RECORD]:
        print(json.dumps(_record()))
    else:
        sys.exit(generated.main(TARGET, page, __doc__))
