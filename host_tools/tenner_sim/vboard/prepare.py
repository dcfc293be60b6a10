"""Prepare the heap and the modules of a virtual board, before its process starts."""

from __future__ import annotations

from pathlib import Path

from tenner_host.build import compile_modules


def heap_bytes(text: str | int) -> int:
    """`112K`, `2M` or a number of bytes."""
    if isinstance(text, int):
        return text
    scale = {"K": 1024, "M": 1024 * 1024}.get(text[-1:].upper())
    number = text[:-1] if scale else text
    if not (number.isascii() and number.isdigit()):
        raise ValueError(f"heap {text!r}: give a size such as 112K, 2M or a number of bytes")
    return int(number) * (scale or 1)


#: The modules that make an interpreter of this computer a board: `machine`, `network`, `time`...
ONBOARD = Path(__file__).resolve().parent.parent / "onboard"


def install_onboard(folder: Path) -> None:
    """Compile the onboard modules for MicroPython into `folder`.

    Their embedded names start with `vboard/`, by which console.OutputFilter recognizes their
    frames.
    """
    paths = [*ONBOARD.glob("*.py"), *(ONBOARD / "unix").glob("*.py")]
    sources = {f"vboard/{path.name}": path.read_bytes() for path in paths}
    folder.mkdir(parents=True, exist_ok=True)
    for name, compiled in compile_modules(sources).items():
        (folder / f"{Path(name).stem}.mpy").write_bytes(compiled)
