"""The smallest run time: calls functions in phases."""

from toy import overlay_loader

_IDLE = "IDLE"
_DEBUG = False
_IN_RAM = True


def run(phase, work, *args):
    """Return `work(*args)`, called in a phase."""
    overlay_loader.enter(phase)
    try:
        if isinstance(work, tuple):
            # In a linked program, a function of another overlay: (overlay, name).
            work = getattr(getattr(overlay_loader.overlays, work[0]), work[1])
        return work(*args)
    finally:
        work = None
        overlay_loader.enter(_IDLE)
