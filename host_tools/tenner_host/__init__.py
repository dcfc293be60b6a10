"""Host side of tenner: flash a board, sync its files, watch it, and run a virtual one."""

from __future__ import annotations

import re
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_SHIPPED = _PACKAGE / "data"
#: True where a wheel was installed; False in a checkout.
IS_INSTALLED = _SHIPPED.is_dir()
#: Holds firmware/, boards/ and skills/: the checkout, or the copies that the wheel brought
#: (pyproject.toml).
ROOT = _SHIPPED if IS_INSTALLED else _PACKAGE.parent.parent
FIRMWARE = ROOT / "firmware"
BOARDS = ROOT / "boards"
#: The linker's rules and layout, in the firmware's folder.
RULES, LAYOUT = "layout.toml", "layout.json"


def tenner_version(firmware: Path = FIRMWARE) -> str:
    """The version, whose only place is the firmware's `__init__.py`."""
    text = (firmware / "tenner" / "__init__.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if match is None:
        raise RuntimeError("firmware/tenner/__init__.py has no __version__ line")
    return match.group(1)
