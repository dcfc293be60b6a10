"""The state of the board itself: interpreter, code, file system, memory, settings,
certificates."""

from __future__ import annotations

import ast
import time
from collections.abc import Mapping

from tenner_host import budget
from tenner_host.board.board import Board, Entry
from tenner_host.board.info import Info
from tenner_host.doctor.findings import Part, fail, ok, skip, warn
from tenner_host.errors import CommandError
from tenner_host.project import Project
from tenner_host.setup import settings as store
from tenner_host.setup.board_ca_roots import addresses, describe
from tenner_host.setup.settings import Settings, get
from tenner_host.sync import code as codes

_TRIAL = "/state/doctor.tmp"
#: Memory outside Python's heap that Wi-Fi and one TLS session need, in all and in one block.
_IDF_FREE = 44 * 1024
_IDF_BLOCK = 17 * 1024
#: A turn of the agent with everything in it, as `make bench B=heap.` measures it.
_TURN_HEAP = 112 * 1024
#: (key, effect of its absence)
ESSENTIAL = {
    "wifi.ssid": "it has no network",
    "llm.model": "it cannot think",
    "telegram.token": "it can only be reached over USB",
}


def check_micropython(info: Info, project: Project) -> Part:
    """The interpreter, and whether the code on the board is this version's."""
    try:
        codes.check_version(info, {})
        yield ok("micropython", f"MicroPython {info.micropython} on {info.machine}")
    except CommandError:
        yield fail(
            "micropython",
            f"MicroPython {info.micropython} is too old for the agent",
            "run `tenner flash`",
        )


def check_code(info: Info, there: dict[str, Entry], project: Project) -> Part:
    """Is the code on the board complete, and that of this version?"""
    if "/main.py" not in there or not codes.has_code(info, there):
        yield fail("code", "there is no agent on the board", "run `tenner sync`")
        return
    try:
        name = codes.board_name(project, info, None)
        tree = codes.code_tree(name, image=info.image, page=codes.PAGE in there)
    except CommandError as exc:
        yield skip("code", exc.message)
        return
    plan = codes.plan_code(tree, there)
    if plan.unfinished or plan.dropped:
        yield fail("code", "a sync was cut off", "run `tenner sync` again")
    elif plan.shadows:
        yield fail(
            "code",
            f"{plan.shadows[0]} hides newer code of the agent",
            "run `tenner sync`, which removes it",
        )
    elif plan:
        count = len(plan.write) + len(plan.remove)
        yield warn("code", f"{count} files aren't from this version", "run `tenner sync`")
    else:
        yield ok("code", f"tenner {info.agent}: all {plan.unchanged} files are from this version")


def check_files(board: Board, info: Info, there: dict[str, Entry]) -> Part:
    """Every file was read already; now one is written."""
    broken = sorted(path for path, entry in there.items() if entry.hash == "unreadable")
    quarantined = sorted(path for path in there if path.endswith(".bad"))
    free = info.flash_free * 100 // max(info.flash_total, 1)
    if broken:
        yield fail(
            "files",
            (
                f"{len(broken)} of {len(there)} files cannot be read, first {broken[0]}: the "
                "flash is damaged"
            ),
            "save the rest with `tenner backup`, then `tenner flash` with --discard",
        )
        return
    try:
        board.write_files({_TRIAL: b"x" * 300})
        board.remove([_TRIAL])
    except CommandError as exc:
        largest = sorted(there, key=lambda path: -there[path].size)[:3]
        names = ", ".join(f"{path} ({there[path].size // 1024} KB)" for path in largest)
        yield fail(
            "files", f"nothing can be written: {exc.message}", f"the largest files: {names}"
        )
        return
    if free < 10:
        largest = sorted(there, key=lambda path: -there[path].size)[:3]
        names = ", ".join(f"{path} ({there[path].size // 1024} KB)" for path in largest)
        yield warn("files", f"only {free} % of the flash is free", f"the largest files: {names}")
    elif quarantined:
        yield warn(
            "files",
            f"{quarantined[0]} was corrupt and quarantined",
            "look at it with `tenner pull`, then delete it",
        )
    else:
        yield ok(
            "files",
            f"all {len(there)} files can be read, a new one reads back as written; "
            f"{info.flash_free // 1024} of "
            f"{info.flash_total // 1024} KB are free",
        )


def check_memory(board: Board) -> Part:
    """Python's heap, and the memory beside it that Wi-Fi and TLS live in."""
    free, used, blocks = ast.literal_eval(board.call("hardware", "t_memory()").strip())
    text = f"{free // 1024} KB free, {used // 1024} KB used with the agent stopped"
    if free + used < _TURN_HEAP:
        yield fail(
            "heap",
            f"{text}: a turn of the agent needs {_TURN_HEAP // 1024} KB in all",
            (
                "use a board with more memory, or an image for its PSRAM: `tenner boards` lists "
                "variants"
            ),
        )
    else:
        yield ok("heap", text)
    if not blocks:
        yield skip("largest block", "this MicroPython doesn't report its memory for TLS")
        return
    total = sum(row[1] for row in blocks)
    block = max(row[2] for row in blocks)
    text = f"{total // 1024} KB for Wi-Fi and TLS, {block // 1024} KB of it in one piece"
    if block < _IDF_BLOCK or total < _IDF_FREE:
        yield fail(
            "largest block",
            (
                f"{text}: TLS needs {_IDF_FREE // 1024} KB, {_IDF_BLOCK // 1024} KB of it in one "
                "piece"
            ),
            "reset the board; if that doesn't help, turn off other uses of the radio",
        )
        return
    least = sum(row[3] for row in blocks)
    if least < budget.GOAL_KB * 1024:
        yield warn(
            "largest block",
            f"{text}; only {least // 1024} KB were left at the worst moment since the start",
            f"connections may fail below {budget.GOAL_KB} KB: see docs/memory.md",
        )
    else:
        yield ok("largest block", text)


def check_needs(data: bytes | None, board: str) -> Part:
    """The memory of a connection to each server, as the agent has learned it in its own state."""
    found = budget.needs(data or b"")
    if not found:
        return
    chip = budget.chips().get(board)
    do = f"a chip with more RAM helps, such as {budget.roomy()}: docs/memory.md"
    for host, (need, told) in found.items():
        text = f"a connection to {host} takes {need // 1000} KB of memory"
        missing = chip.missing_kb(need) if chip else 0
        if told:
            yield fail("server memory", f"{text}, more than this board has left", do)
            return
        if missing:
            yield warn("server memory", f"{text}, {missing} KB too many beside a turn", do)
            return
    most = max(found, key=lambda host: found[host][0])
    yield ok("server memory", f"at most {found[most][0] // 1000} KB, for {most}: that fits")


def check_settings(
    data: bytes | None, essential: Mapping[str, str] = ESSENTIAL, board: Board | None = None
) -> tuple[Settings | None, Part]:
    """The settings if they are valid, and the findings about them."""
    if data is None:
        return None, iter([fail("settings", "the board has none", "run `tenner setup`")])
    try:
        settings = store.parse(data.decode(errors="replace"), "/config.json")
        store.check(settings, board)
    except CommandError as exc:
        return None, iter(
            [
                fail(
                    "settings",
                    f"one is wrong, so the agent uses its default: {exc.message}",
                    "run `tenner setup`",
                )
            ]
        )
    missing = [(key, why) for key, why in essential.items() if not get(settings, key)]
    if missing:
        key, why = missing[0]
        return settings, iter([warn("settings", f"without {key} {why}", "run `tenner setup`")])
    return settings, iter([ok("settings", "the agent accepts them")])


def check_certificates(found: dict[str, bytes], settings: Settings | None) -> Part:
    """Is each a certificate, and how long does it last?"""
    if not found and settings is not None and not addresses(settings):
        yield skip("certificates", "none are needed: no server in the settings uses TLS")
        return
    if not found:
        yield fail(
            "certificates",
            "there are none in /certs, so no server can be trusted",
            "run `tenner setup`",
        )
        return
    lines = []
    for path, der in sorted(found.items()):
        try:
            root = describe(der)
        except CommandError:
            yield fail(
                "certificates", f"{path} isn't a certificate in DER form", "run `tenner setup`"
            )
            return
        if root.expires < time.time():
            yield fail(
                "certificates", f"{root.subject} expired on {root.until}", "run `tenner setup`"
            )
            return
        if root.ends_soon:
            yield warn(
                "certificates",
                f"{root.subject} expires on {root.until}",
                "run `tenner setup` again before then",
            )
            return
        lines.append(f"{root.subject} until {root.until}")
    yield ok("certificates", "; ".join(lines))
