"""Makes the firmware's modules small before they are compiled for a board, by what only the source says.

Nothing changes but names and one import. Lines stay where they are: a traceback names the right file and
line, and only the name of a private function in it is short.
"""

from __future__ import annotations

from host_tools.shorten.arguments import keywords, short_arguments
from host_tools.shorten.consts import without_const_import
from host_tools.shorten.private import inheritance_levels, shorten_private
from host_tools.shorten.syntax import ShortenError

__all__ = ["ShortenError", "shortened"]


def shortened(modules: dict[str, bytes]) -> dict[str, bytes]:
    """The modules of a board, by names such as `tenner/net/http.py`."""
    levels = inheritance_levels(modules)
    given = keywords(modules)
    result = {}
    for name, source in modules.items():
        source = without_const_import(source, name)
        source = short_arguments(source, name, given)
        result[name] = shorten_private(source, name, levels[name])
    return result
