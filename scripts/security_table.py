"""Write or check the table of defenses in docs/security.md, generated from the table of
attacks."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import generated
from tenner_host import ROOT

TARGET = ROOT / "docs" / "security.md"
_ATTACKS = ROOT / "tests" / "attacks" / "attacks.json"
_BEGIN = "<!-- made by scripts/security_table.py from tests/attacks/attacks.json -->\n"
_OUTCOMES = ("refused", "asked", "harmless")
#: Actions, in the order of the columns: the tools of each. The last one takes all others.
_ACTIONS = {
    "change a file that guides": "write_file append_file edit_file",
    "write elsewhere": "",
    "read a private file": "read_file list_dir search_memory",
    "fetch, search, install": "web_fetch web_search find_skills install_skill",
    "send a message": "message",
    "run a command": "exec",
    "a job, a task": "cron spawn",
    "a chip, a pin": "i2c spi gpio pwm adc",
    "a server's tool": "home-look home-set",
    "other": "",
}
_GUIDES = tuple(
    "heartbeat.md cron.json sensors.json agents.md soul.md identity.md user.md tools.md "
    "memory/memory.md skills/".split()
)
#: Sources that need another name for the owner.
_SOURCES = {
    "page": "a web page",
    "server": "the reply of a server's tool",
    "file": "the text of a file",
    "owner": "the owner, by mistake",
    "forwarded": "a forwarded message",
    "forward": "a forward on Telegram",
    "history": "an earlier turn",
    "beat": "a heartbeat",
    "job": "a job",
    "spawned": "a background task",
    "guest": "somebody of `telegram.allow`",
    "group": "a group on Telegram",
    "stranger": "a stranger",
    "outsider": "a group of strangers",
    "mqtt": "another MQTT topic",
    "serial": "the serial line",
    "topic": "the name of an MQTT topic",
    "server reason": "a server's reason for no tools",
    "tool description": "the description of a server's tool",
    "caption": "the caption of a file",
    "search": "a search result",
    "board name": "the agent's name",
    "network name": "the name of the Wi-Fi network",
    "index name": "a name in the index of skills",
    "person name": "a person's name on Telegram",
    "group name": "a group's name on Telegram",
    "stranger name": "a stranger's name on Telegram",
    "server name": "the name of an MCP server",
    "tool name": "the name of a server's tool",
}


def _rows() -> list[list[Any]]:
    found: list[list[Any]] = json.loads(_ATTACKS.read_text(encoding="utf-8"))
    return found


def _action(tool: str, args: Any) -> str:
    action = next((one for one, tools in _ACTIONS.items() if tool in tools.split()), "other")
    if action == "change a file that guides":
        path = args.get("path", "") if isinstance(args, dict) else args.removeprefix("path=")
        name = path.split(" ")[0].replace("/./", "/").split("workspace/")[-1].lower()
        if not name.removeprefix("./").startswith(_GUIDES):
            return "write elsewhere"
    return action


def _counts(found: Counter[str]) -> str:
    """The outcomes of a cell: 3 R, 5 A."""
    parts = [f"{found[outcome]} {outcome[0].upper()}" for outcome in _OUTCOMES if found[outcome]]
    return ", ".join(parts) or "–"


def _table() -> str:
    cells: dict[tuple[str, str], Counter[str]] = {}
    sources: dict[str, Counter[str]] = {}
    for source, tool, args, outcome, *_ in _rows():
        kind = source.split(",")[0]
        cells.setdefault((kind, _action(tool, args)), Counter())[outcome] += 1
        sources.setdefault(kind, Counter())[outcome] += 1
    total = sum(sources.values(), Counter[str]())
    told = ", ".join(f"{total[outcome]} {outcome}" for outcome in _OUTCOMES)
    lines = [
        f"**0 of {total.total()} attacks did harm** ({told}).",
        "R is refused, A is asked, H is harmless.",
        "",
        "| source of the order | " + " | ".join(_ACTIONS) + " | all |",
        "|---" * (len(_ACTIONS) + 2) + "|",
    ]
    for kind, found in sources.items():
        row = [_counts(cells.get((kind, action), Counter())) for action in _ACTIONS]
        title = _SOURCES.get(kind, "the name of a " + kind.replace(" name", ""))
        lines.append(f"| {title} | {' | '.join(row)} | {found.total()} |")
    row = [
        str(sum(found.total() for (_, one), found in cells.items() if one == action))
        for action in _ACTIONS
    ]
    lines.append(f"| all | {' | '.join(row)} | {total.total()} |")
    return "\n".join([*lines, "", *_tools()]) + "\n"


def _tools() -> list[str]:
    tools = {path.stem for path in (ROOT / "firmware/tenner/tools").glob("*.json")}
    counts: dict[str, Counter[str]] = {}
    for row in _rows():
        name = row[1] if row[1] in tools else "an MCP server's"
        if row[1].split("-")[0] != "home" and row[1] not in tools:
            name = "no tool at all"
        counts.setdefault(name, Counter())[row[3]] += 1
    lines = ["| tool | attacks | refused | you are asked | harmless |", "|---|---|---|---|---|"]
    for name in sorted(counts):
        found = counts[name]
        title = f"`{name}`" if name in tools else name
        cells = [str(found[outcome] or "–") for outcome in _OUTCOMES]
        lines.append(f"| {title} | {found.total()} | {' | '.join(cells)} |")
    return lines


def page() -> str:
    """The page, with its table renewed."""
    return generated.with_block(TARGET, _BEGIN, _table())


if __name__ == "__main__":
    sys.exit(generated.main(TARGET, page, __doc__))
