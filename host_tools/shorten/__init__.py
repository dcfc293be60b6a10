"""Makes the firmware's modules small, before and after they are compiled for a board.

In the source nothing changes but names and where some of them come from. Lines stay where they are: a traceback
names the right module and line, and only functions have short names in it.
"""

from __future__ import annotations

from functools import cache

from host_tools.shorten.arguments import keywords, short_arguments
from host_tools.shorten.bytecode import with_small_functions
from host_tools.shorten.compat import HOME_PATH, native_homes, without_compat
from host_tools.shorten.private import inheritance_levels, shorten_private
from host_tools.shorten.public import public_names
from host_tools.shorten.relative import with_relative_imports
from host_tools.shorten.scopes import with_short_scopes
from host_tools.shorten.syntax import ShortenError, renamed
from host_tools.shorten.texts import with_own_texts

__all__ = ["ShortenError", "keywords", "made_small", "renamed", "shortened"]


@cache
def made_small(compiled: bytes, stays: bool, given: frozenset[str]) -> bytes:
    """The .mpy of a module of the firmware without what no board needs; `stays` if boards never let go of it, `given`
    are the keywords of its calls."""
    small = with_small_functions(with_short_scopes(compiled))
    return small if stays else with_own_texts(small, given)


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
