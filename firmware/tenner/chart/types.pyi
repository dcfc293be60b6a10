# tenner chart.types: the parts that modules of chart share; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors

from array import array
from typing import Protocol

class Drawing(Protocol):
    """The parts of a chart, in pixels, as a chart.layout.Layout has them."""

    heading: str
    newest: str
    left: int
    scale: list[tuple[int, str]]
    times: list[tuple[int, str]]
    bands: list[tuple[int, int]]
    levels: list[int]
    top: array
    bottom: array
