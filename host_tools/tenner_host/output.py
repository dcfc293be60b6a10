"""The output of commands: text for people, `--json` for programs, progress only at a terminal."""

from __future__ import annotations

import contextlib
import json
import sys
import unicodedata
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, Task

F = TypeVar("F", bound=Callable[..., object])

#: Set in the context of a command: does it report as JSON; does its document wait until the
#: command ends, for the error; that document.
_WANTED, _WAITS, _DOCUMENT = "tenner.json", "tenner.json_waits", "tenner.json_document"


def _note_json(ctx: click.Context, _: click.Parameter, value: bool) -> bool:
    ctx.meta[_WANTED] = value
    return value


#: For a command that reports: one JSON document on standard output, nothing else.
json_option = click.option(
    "--json",
    "as_json",
    is_flag=True,
    is_eager=True,
    callback=_note_json,
    help="Report as JSON, for programs.",
)


#: Zero-width letters whose category does not show it.
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"


#: Letters of these kinds that a text needs: its lines, and the joiners of letters and emojis.
KEPT = "\n\t\u200c\u200d"


def visible(text: str, keep: str = KEPT) -> str:
    """A text from a board or another source, with `\\x1b` and the like for letters that a terminal
    obeys or hides.

    The counterpart of `tenner.log.visible` on the board, which may be broken or foreign.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _escape(letter) if is_hidden(letter) and letter not in keep else letter for letter in text
    )


def is_hidden(letter: str) -> bool:
    """Does a terminal or a browser obey or hide it?"""
    return letter in _BLANK or unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def _escape(letter: str) -> str:
    code = ord(letter)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def echo(text: str = "", *, err: bool = False, nl: bool = True, **style: Any) -> None:
    """Print a text of any source; `style` are colors, see click.style."""
    click.secho(visible(text), err=err, nl=nl, **style)


def json_text(document: Any, indent: int | None = None) -> str:
    """JSON with hidden letters escaped."""
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    units = (
        (letter, letter.encode("utf-16-be", "surrogatepass").hex())
        for letter in set(text)
        if letter != "\n" and is_hidden(letter)
    )
    for letter, code in units:
        text = text.replace(
            letter, "".join(f"\\u{code[at : at + 4]}" for at in range(0, len(code), 4))
        )
    return text


def hold_json(ctx: click.Context) -> None:
    """Have the documents of its commands wait for `show_json` or `print_json_error`."""
    ctx.meta[_WAITS] = True


def print_json(document: dict[str, Any], failed: str = "") -> None:
    """Report as JSON. `failed`: why the command ends with exit status 1 although it raises no
    error."""
    if failed:
        document = {**document, "error": _error(failed, 1)}
    context = click.get_current_context(silent=True)
    if context is not None and context.meta.get(_WAITS):
        context.meta[_DOCUMENT] = document
    else:
        click.echo(json_text(document, indent=1))


def show_json(ctx: click.Context) -> None:
    """Print the document that waits, if there is one."""
    document = ctx.meta.pop(_DOCUMENT, None)
    if document is not None:
        click.echo(json_text(document, indent=1))


def print_json_error(
    ctx: click.Context, message: str, exit_code: int, wanted: bool = False
) -> None:
    """Print the error, as a part of the document that waits if there is one. `wanted`: even if the
    option for JSON was not read."""
    if wanted or ctx.meta.get(_WANTED):
        ctx.meta[_DOCUMENT] = {
            **ctx.meta.get(_DOCUMENT, {}),
            "error": _error(message, exit_code),
        }
        with contextlib.suppress(OSError):
            show_json(ctx)


def _error(message: str, exit_code: int) -> dict[str, Any]:
    return {"message": message, "exit": exit_code}


def iso(unix_s: float | None) -> str | None:
    """The time as ISO 8601 in UTC; None for no time."""
    if not unix_s:
        return None
    text = datetime.fromtimestamp(unix_s, timezone.utc).isoformat(timespec="seconds")
    return text.replace("+00:00", "Z")


def at_terminal() -> bool:
    """May a command ask questions? Both ends must be a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def amount(done: float, total: float | None, speed: float | None) -> str:
    """The amount received, as far as it is known: "", "12.3 KB", "12.3 of 60.0 KB, 11.0 KB/s"."""
    if not done:
        return ""
    parts = [
        f"{done / 1024:.1f} KB" if not total else f"{done / 1024:.1f} of {total / 1024:.1f} KB"
    ]
    if speed:
        parts.append(f"{speed / 1024:.1f} KB/s")
    return ", ".join(parts)


def _bar(title: str, console: Console) -> Progress:
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class Amount(ProgressColumn):
        """Empty until an amount is known."""

        def render(self, task: Task) -> Text:
            return Text(amount(task.completed, task.total, task.speed))

    return Progress(
        TextColumn(f"{title:28}"),
        BarColumn(pulse_style="cyan"),
        Amount(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[path]}"),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )


@contextlib.contextmanager
def step_bar(title: str, console: Console) -> Iterator[Callable[[int, int], None]]:
    """A line that moves with (bytes done, bytes in all or 0), at a terminal only."""
    with _bar(title, console) as shown:
        task = shown.add_task(title, total=None, path="")

        def step(done: int, total: int) -> None:
            shown.update(task, completed=done, total=total or None)

        yield step


@contextlib.contextmanager
def progress_bar(
    title: str, *, quiet: bool = False
) -> Iterator[Callable[[str, int], None] | None]:
    """A line that moves with the files, on standard error and at a terminal only."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with _bar(title, Console(stderr=True)) as shown:
        task = shown.add_task(title, total=None, path="")
        before: dict[str, int] = {}

        def step(path: str, done: int) -> None:
            shown.update(task, advance=done - before.get(path, 0), path=path)
            before[path] = done

        yield step
