"""The smallest loader: prints the overlays that it loads and evicts."""

import gc
import sys

# The linker fills these in.
_BUILT = False
_CARRY = b""
_IDLE = "IDLE"
_PHASES = ()
_PACKED = False
_PLACES = ()

if _BUILT:
    # All overlays import the core by this name.
    sys.modules["_"] = sys.modules["toy.app"]

held = []


class _Overlays:
    """The overlays in memory, as attributes; another attribute loads one."""

    def __getattr__(self, name):
        print("  load", name)
        full = "toy." + name
        made = __import__(full, None, None, ("x",))
        # Nothing but this object keeps it.
        del sys.modules[full]
        delattr(sys.modules["toy"], name)
        setattr(self, name, made)
        held.append(name)
        return made


overlays = _Overlays()


def enter(phase):
    """Begin a phase: evict the overlays that do not stay in it."""
    if not _BUILT:
        return
    for name in list(held):
        place = getattr(getattr(overlays, name), "startswith", 0) + (phase >> 3)
        if not _CARRY[place] & 1 << (phase & 7):
            print("  evict", name)
            held.remove(name)
            delattr(overlays, name)
    gc.collect()
