"""Makes the firmware's modules small before they are compiled for a board, by what only the source says.

Nothing changes but names and where some of them come from. Lines stay where they are: a traceback names the right file and
line, and only the name of a private function in it is short.
"""

from __future__ import annotations

from host_tools.shorten.arguments import keywords, short_arguments
from host_tools.shorten.compat import HOME_PATH, native_homes, without_compat
from host_tools.shorten.private import inheritance_levels, shorten_private
from host_tools.shorten.syntax import ShortenError

__all__ = ["ShortenError", "shortened"]


def shortened(modules: dict[str, bytes]) -> dict[str, bytes]:
    """The modules of a board, by names such as `tenner/net/http.py`."""
    levels = inheritance_levels(modules)
    given = keywords(modules)
    homes = native_homes(modules.get(HOME_PATH, b""))
    result = {}
    for name, source in modules.items():
        source = without_compat(source, name, homes)
        source = short_arguments(source, name, given)
        result[name] = shorten_private(source, name, levels[name])
    return result
