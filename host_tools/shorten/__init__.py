"""Makes the firmware's modules small before they are compiled for a board, by what only the source says.

Nothing changes but names and where some of them come from. Lines stay where they are: a traceback names the
right file and line, and only functions have short names in it.
"""

from __future__ import annotations

from host_tools.shorten.arguments import keywords, short_arguments
from host_tools.shorten.compat import HOME_PATH, native_homes, without_compat
from host_tools.shorten.private import inheritance_levels, shorten_private
from host_tools.shorten.public import public_names
from host_tools.shorten.relative import with_relative_imports
from host_tools.shorten.scopes import with_short_scopes
from host_tools.shorten.syntax import ShortenError, renamed

__all__ = ["ShortenError", "renamed", "shortened", "with_short_scopes"]


def shortened(
    modules: dict[str, bytes], callers: dict[str, bytes]
) -> tuple[dict[str, bytes], dict[str, str]]:
    """The modules of a board, by names such as `tenner/net/http.py`, and what public names became.

    `callers`, such as main.py, stay as they are.
    """
    given = keywords({**modules, **callers})
    homes = native_homes(modules.get(HOME_PATH, b""))
    short = {}
    for name, source in modules.items():
        source = with_relative_imports(without_compat(source, name, homes), name)
        short[name] = short_arguments(source, name, given)
    public = public_names(short, callers)
    levels = inheritance_levels(modules)
    for name, source in short.items():
        short[name] = shorten_private(renamed(source, public), name, levels[name])
    return short, public
