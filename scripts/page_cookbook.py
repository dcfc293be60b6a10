"""Write or check the page's module cookbook.js: the files of docs/cookbook/, to begin an empty
HEARTBEAT.md with."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import generated
from tenner_host import ROOT

TARGET = ROOT / "host_tools" / "tenner_host" / "web" / "page" / "cookbook.js"
_HEAD = "// Made by scripts/page_cookbook.py from docs/cookbook/: [title, text] of each file.\n"


def module() -> str:
    """The module with all files, in the order of their names."""
    rows = []
    for path in sorted((ROOT / "docs" / "cookbook").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        title = text.split("\n", 1)[0].removeprefix("# Heartbeat: ")
        rows.append(f"  {json.dumps([title, text], ensure_ascii=False)},\n")
    return f"{_HEAD}export const COOKBOOK = [\n{''.join(rows)}];\n"


if __name__ == "__main__":
    raise SystemExit(generated.main(TARGET, module, __doc__))
