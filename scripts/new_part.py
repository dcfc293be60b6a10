"""`make new-tool NAME=dew_point`, `make new-driver NAME=lm92`, `make new-channel NAME=ntfy`: the
files of a part, and its places in the tables, with a test that passes; then put the part's own
work into them."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tenner_host import ROOT

_SETTINGS = "firmware/tenner/store/config.tsv"
_TEMPLATES = Path(__file__).resolve().parent / "templates"


def make(kind: str, name: str, root: Path = ROOT) -> list[str]:
    """Write the files and rows of a part below `root`; return their paths. SystemExit with a
    sentence for a name that cannot be, or is there."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{1,23}", name):
        raise SystemExit(
            f"{name!r} is no name: 2 to 24 small letters, digits and _, the first a letter"
        )
    package = {"tool": "tools", "driver": "sensors", "channel": "channels"}[kind]
    folder = f"firmware/tenner/{package}"
    source = f"{folder}/{name}/part.py" if kind == "channel" else f"{folder}/{name}.py"
    texts = {
        source: _template(f"{kind}.py", name),
        f"tests/test_{package}_{name}.py": _template(f"{kind}_test.py", name),
    }
    if kind == "channel":
        texts[f"{folder}/{name}/__init__.py"] = _template("channel_about.py", name)
        head = (root / _SETTINGS).read_text(encoding="utf-8").splitlines(True)[0]
        texts[f"{folder}/{name}/settings.tsv"] = head + (
            f"{name}.url\turl\t\t\t\taddress that gets each alert; without it {name} is off\n"
        )
    if kind == "tool":
        schema = json.loads(_template("tool.json", name))
        texts[f"{folder}/{name}.json"] = json.dumps(schema, separators=(",", ":")) + "\n"
    for path in texts:
        if (root / path).exists():
            raise SystemExit(f"{path} is there already: take another name")
    for path, change in _TABLES[kind].items():
        texts[path] = change((root / path).read_text(encoding="utf-8"), name)
    for path, text in texts.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return list(texts)


def _template(name: str, part: str) -> str:
    return (_TEMPLATES / f"{name}.txt").read_text(encoding="utf-8").replace("NAME", part)


def _attack(text: str, name: str) -> str:
    row = json.dumps(["page", name, {"text": ""}, "refused", {}])
    return text.rstrip().removesuffix("]").rstrip() + f",\n{row}\n]\n"


def _chip(text: str, name: str) -> str:
    return "".join(sorted([*text.splitlines(True), f"{name}\t{name}\ttemperature\n"]))


def _row_of_docs(text: str, name: str) -> str:
    row = f"| {name.upper()} | `{name}` | `temperature` °C | `bus` `address` 0x48 |\n"
    return text.replace("| the board's analog pins |", row + "| the board's analog pins |", 1)


#: The tables that name a part, and the change of each for one more.
_TABLES: dict[str, dict[str, Callable[[str, str], str]]] = {
    "tool": {
        "tests/attacks/attacks.json": _attack,
    },
    "driver": {
        "firmware/tenner/sensors/chips.tsv": _chip,
        "docs/sensors.md": _row_of_docs,
    },
    "channel": {},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=_TABLES)
    parser.add_argument("name", help="small letters, digits and _")
    given = parser.parse_args()
    for path in make(given.kind, given.name):
        print(path)
    print("Next: write its code and its test, then: make format lint; make test CHANGED=1")


if __name__ == "__main__":
    main()
