"""Write docs/pictures/demo.svg: the terminal of `make run`, from a run of the demo, without its
less telling lines."""

from __future__ import annotations

import html
import io
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tenner_host import ROOT
from tenner_sim import demo

TARGET = ROOT / "docs" / "pictures" / "demo.svg"
_COLUMNS = 108
#: Lines of the board that the picture leaves out.
_OMITTED = re.compile(
    r"^(ESP-ROM|Build:)| boot +(build|heap|for Wi-Fi|bus)|timers restarted|not due|1 scheduled| "
    r"agent  "
)
#: Without rich's web font, which a picture in a page may not load.
_FORMAT = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<!-- Made by `make picture` from the output of the demo -->
<style>
.{unique_id}-matrix {{ font: {char_height}px/{line_height}px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }}
.{unique_id}-title {{ font: bold 18px system-ui, "DejaVu Sans", sans-serif }}
{styles}
</style>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" class="{unique_id}-matrix">
{matrix}
</g>
</svg>
"""  # noqa: E501
#: Dark, so that it looks like a terminal on a light and on a dark page.
_THEME = TerminalTheme(
    (22, 27, 34),
    (222, 226, 230),
    [
        (72, 79, 88), (255, 123, 114), (126, 231, 135), (242, 204, 96),
        (121, 192, 255), (210, 168, 255), (110, 220, 235), (222, 226, 230),
    ],
)  # fmt: skip
_TEXT = re.compile(r'<text class="[^"]*-r\d+"[^>]* y="([^"]+)"[^>]*>([^<]*)</text>')


class Recorder(demo.Screen):
    """A screen that keeps the lines of the picture, and shows on the terminal that the demo goes
    on."""

    def __init__(self) -> None:
        super().__init__(
            Console(
                record=True,
                width=_COLUMNS,
                file=io.StringIO(),
                force_terminal=True,
                color_system="truecolor",
                highlight=False,
                soft_wrap=True,
            )
        )

    def board(self, line: str) -> None:
        if not _OMITTED.search(line):
            super().board(line)

    def service(self, line: str) -> None:
        """The board's own log has the same events."""


def lines(svg: str) -> list[str]:
    """The texts of a picture, line by line."""
    found: dict[str, str] = {}
    for y, text in _TEXT.findall(svg):
        found[y] = found.get(y, "") + html.unescape(text).replace("\xa0", " ")
    return [line.strip() for line in found.values()]


def picture() -> str:
    """Run the demo, and return its terminal as SVG."""
    screen = Recorder()
    demo.show(screen, {})
    svg = screen.console.export_svg(
        title="make run", theme=_THEME, code_format=_FORMAT, unique_id="demo"
    )
    return re.sub(r' clip-path="[^"]*"', "", svg).replace("</text><text", "</text>\n<text")


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}")
