"""Write or check the table of CONTRIBUTING.md about four first changes: the files that each adds
and changes, from doing it in a copy of the tree."""

from __future__ import annotations

import difflib
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import generated, house, new_part
from tenner_host import ROOT

TARGET = ROOT / "CONTRIBUTING.md"
_BEGIN = "<!-- made by scripts/rooms.py -->\n"
_SKIPPED = shutil.ignore_patterns(
    ".*", "build", "typings", "node_modules", "__pycache__", "*.egg-info"
)
#: A setting and its use: (file, text, its replacement).
_SETTING = (
    (
        "firmware/tenner/channels/webhook/settings.tsv",
        "webhook.member\t",
        "webhook.sender\tstr(name)\tagent\t\t\tmember that names the agent\nwebhook.member\t",
    ),
    ("firmware/tenner/channels/webhook/part.py", '{"agent": get', '{get("webhook.sender"): get'),
    (
        "tests/test_channels_webhook.py",
        '    "webhook.member": "text",\n',
        '    "webhook.member": "text",\n    "webhook.sender": "agent",\n',
    ),
    (
        "tests/test_channels_webhook.py",
        'webhook__member="content")',
        'webhook__member="content", webhook__sender="from")',
    ),
)
_GENERATE = """
from scripts import lint
for path, text in lint.generated_texts().items():
    path.write_text(text, encoding="utf-8")
"""

#: The text of a file, by its path.
Tree = dict[str, str]


def setting(root: Path) -> None:
    """Add a setting of the webhook, use and test it."""
    for name, old, new in _SETTING:
        text = (root / name).read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise SystemExit(f"scripts/rooms.py: {name} has {old!r} {text.count(old)} times")
        (root / name).write_text(text.replace(old, new), encoding="utf-8")


def _part(kind: str, name: str) -> Callable[[Path], object]:
    return lambda root: new_part.make(kind, name, root)


#: The change, and its row's first cell.
CHANGES: dict[str, Callable[[Path], object]] = {
    "a setting, used in one place": setting,
    "`make new-tool`": _part("tool", "dew_point"),
    "`make new-driver`": _part("driver", "lm92"),
    "`make new-channel`": _part("channel", "ntfy"),
}


def done(change: Callable[[Path], object], root: Path) -> tuple[Tree, Tree, Tree]:
    """Do a change in the copy of the tree at `root`, and undo it. The texts of the changed and new
    files: before it, with it, and with the files that `make format` and `make lint` ask for."""
    before = _texts(root)
    change(root)
    by_hand = _texts(root)
    env = {**os.environ, "PYTHONPATH": str(root / "host_tools")}
    with subprocess.Popen([sys.executable, "-c", _GENERATE], cwd=root, env=env) as writing:
        _raise_budgets(root)
    if writing.returncode:
        raise SystemExit("scripts/rooms.py: the generated files cannot be written")
    after = _texts(root)
    paths = [path for path, text in after.items() if before.get(path) != text]
    for path in paths:
        (root / path).unlink()
        if path in before:
            shutil.copy(ROOT / path, root / path)
    first, second, third = (
        {path: tree.get(path, "") for path in paths} for tree in (before, by_hand, after)
    )
    return first, second, third


def _texts(root: Path) -> Tree:
    found = {}
    for folder in ("firmware", "host_tools", "boards", "docs", "scripts", "skills", "tests", "."):
        paths = (root / folder).glob("*" if folder == "." else "**/*")
        for path in sorted(paths):
            if path.is_file() and path.suffix != ".pyc":
                text = path.read_bytes().decode("utf-8", "replace")
                found[str(path.relative_to(root))] = text
    return found


def _raise_budgets(root: Path) -> None:
    """Raise the budgets that the change passes, as its commit has to."""
    path = root / house.BUDGETS.relative_to(ROOT)
    text = path.read_text(encoding="utf-8")
    budgets = house.read_budgets(path)
    for section, names in house.figures(root).items():
        head, found, rest = text.partition(f"[{section}]\n")
        for name, value in names.items():
            budget = budgets[section].get(name, 0)
            if value > budget:
                raised = house.with_grain(section, name, value)
                rest = re.sub(
                    rf'^("?{re.escape(name)}"? = ){budget}$',
                    rf"\g<1>{raised}",
                    rest,
                    count=1,
                    flags=re.M,
                )
        text = head + found + rest
    path.write_text(text, encoding="utf-8")


def _row(name: str, before: Tree, by_hand: Tree, after: Tree) -> str:
    own = [path for path in after if by_hand[path] != before[path]]
    added = [path for path in own if not before[path]]
    changed = [path for path in own if before[path]]
    follow = [path for path in after if after[path] != by_hand[path]]
    cells = [name]
    for paths in (added, changed):
        lines = sum(_lines(before[path], by_hand[path]) for path in paths)
        cells.append(f"{_shown(paths)}: {lines} lines" if paths else "–")
    # Without their lines: those of budgets depend on the grain.
    return f"| {' | '.join([*cells, _shown(follow)])} |\n"


def _shown(paths: list[str]) -> str:
    return ", ".join(f"`{path.removeprefix('firmware/tenner/')}`" for path in paths)


def _lines(old: str, new: str) -> int:
    """How many lines of the new text are not in the old one."""
    found = difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")
    return sum(line.startswith("+") and not line.startswith("+++ ") for line in found)


@functools.cache
def table() -> str:
    """The rows of all changes."""
    rows = (
        "| change | files added | files changed | files that `make format` writes, and budgets |\n"
        "|---|---|---|---|\n"
    )
    with tempfile.TemporaryDirectory(prefix="rooms-") as folder:
        root = Path(folder) / "tree"
        shutil.copytree(ROOT, root, ignore=_SKIPPED, symlinks=True)
        for name, change in CHANGES.items():
            rows += _row(name, *done(change, root))
    return rows


def page() -> str:
    """The page, with its table renewed."""
    return generated.with_block(TARGET, _BEGIN, table())


if __name__ == "__main__":
    sys.exit(generated.main(TARGET, page, __doc__))
