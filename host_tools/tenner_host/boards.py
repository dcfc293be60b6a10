"""`tenner boards`: connected boards, and the boards known in boards/."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import rich_click as click

from tenner_host import budget
from tenner_host.board import board_cache, ports
from tenner_host.board.board import AT_REPL
from tenner_host.board.opening import class_of, open_board
from tenner_host.board.options import port_option
from tenner_host.board.ports import Port
from tenner_host.board.sims import running_boards
from tenner_host.catalog import chip_of, known_boards
from tenner_host.errors import CommandError
from tenner_host.output import echo, iso, json_option, print_json
from tenner_host.project import Project

#: A prompt answers at once; otherwise a program is running.


@dataclass
class Connected:
    """One port, and the known facts about its board."""

    port: str
    what: str
    state: str
    #: It is this project's board.
    project: bool = False
    chip: str | None = None
    micropython: str | None = None
    agent: str | None = None
    flash_free: int | None = None
    #: Why it could not be asked.
    problem: str | None = None
    #: Unix time of these facts; None: now.
    seen: int | None = None


def look(port: Port, *, ask: bool, project: Project) -> Connected:
    """Inspect the board at a port. `ask` allows stopping a running program; it starts again
    afterwards."""
    found = Connected(port.device, port.label.removeprefix(port.device).strip(), "")
    remembered = ports.remembered(project)
    found.project = remembered is not None and port.same_board(remembered)
    cls = class_of(port)
    try:
        found.state = cls.peek(port)
        if cls.has_repl and (ask or found.state == AT_REPL):
            with open_board(port.device if port.sim is None else None, port.sim) as board:
                board.info()
                found.state = "runs a program" if board.was_running else AT_REPL
            found.seen = int(time.time())
    except CommandError as exc:
        found.state, found.problem = "not asked", exc.message
    known = board_cache.recall(port)
    found.micropython, found.agent = known.get("micropython"), known.get("agent")
    found.flash_free = known.get("flash_free")
    if found.seen is None:
        found.seen = known.get("seen")
    found.chip = _chip(port, str(known.get("machine", "")))
    return found


def _chip(port: Port, machine: str) -> str | None:
    """The chip in esptool's form, from the board's own text: `ESP32C3 module with ESP32C3`."""
    if port.sim:
        machine = str(running_boards().get(port.sim, {}).get("chip", ""))
    return chip_of(machine)


@click.command()
@click.option(
    "--ask",
    is_flag=True,
    help="Ask every board; a running agent is stopped and started again.",
)
@port_option
@json_option
def boards(ask: bool, port: str | None, as_json: bool) -> None:
    """List the boards that are connected, and those that tenner knows.

    A board whose agent runs isn't disturbed: you see its last answer, and when it was given.
    """
    project = Project.find()
    connected = [look(one, ask=ask, project=project) for one in ports.connected(port)]
    known = [one for one in known_boards() if one.name != "VIRTUAL"]
    # Those with room first.
    known.sort(key=lambda one: budget.is_tight(one.name))
    if as_json:
        print_json(
            {
                "connected": [_as_json(one) for one in connected],
                "known": [
                    {
                        "name": one.name,
                        "product": one.product,
                        "platform": one.platform,
                        "chip": one.chip or None,
                        "variants": sorted(one.variants),
                    }
                    for one in known
                ],
            }
        )
        return
    _show(connected)
    echo("\nKnown boards (tenner flash --board NAME, tenner deploy):")
    for one in known:
        variants = f"; variants {', '.join(one.variants)}" if one.variants else ""
        note = "; little memory beside Telegram, see docs/memory.md"
        least = note if budget.is_tight(one.name) else ""
        chip = one.chip or one.platform
        product = one.product if one.product == chip else f"{one.product}, {chip}"
        echo(f"  {one.name:18} {product}{variants}{least}")


def _as_json(one: Connected) -> dict[str, Any]:
    found = asdict(one)
    found["flash_free_bytes"] = found.pop("flash_free")
    found["seen_at"] = iso(found.pop("seen"))
    return found


def _show(connected: list[Connected]) -> None:
    if not connected:
        echo("No board is connected. Use a USB cable with data lines; or: tenner sim start")
        return
    for one in connected:
        mark = " (this project's)" if one.project else ""
        echo(f"{one.port}  {one.what}{mark}")
        facts: list[Any] = [
            one.chip,
            one.micropython and f"MicroPython {one.micropython}",
            one.agent and f"tenner {one.agent}",
            one.flash_free is not None and f"{one.flash_free // 1024} KB of flash free",
        ]
        if not one.micropython:
            facts.append("not asked yet (tenner boards --ask)")
        line = ", ".join(str(fact) for fact in facts if fact)
        if one.seen and time.time() - one.seen > 60:
            line += time.strftime(" (on %d %B %H:%M)", time.localtime(one.seen))
        echo(f"    {line}")
        echo(f"    {one.problem or one.state}")
