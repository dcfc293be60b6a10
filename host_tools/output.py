"""What commands print: text for people, `--json` for programs, progress only where somebody watches."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import rich_click as click

F = TypeVar("F", bound=Callable[..., object])

#: For a command that reports: one JSON document on standard output, nothing else.
json_option = click.option("--json", "as_json", is_flag=True, help="Report as JSON, for programs.")


def print_json(document: Any) -> None:
    click.echo(json.dumps(document, indent=1, ensure_ascii=False))


def at_terminal() -> bool:
    """May we ask? Both ends must be a person's."""
    return sys.stdin.isatty() and sys.stderr.isatty()


@contextlib.contextmanager
def progress_bar(
    title: str, *, quiet: bool = False
) -> Iterator[Callable[[str, int], None] | None]:
    """A line that moves with the files, on standard error and at a terminal only."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (
        TextColumn(title),
        BarColumn(pulse_style="cyan"),
        TextColumn("{task.completed:.0f} bytes"),
        TransferSpeedColumn(),
        TextColumn("[dim]{task.fields[path]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(title, total=None, path="")
        before: dict[str, int] = {}

        def step(path: str, done: int) -> None:
            shown.update(task, advance=done - before.get(path, 0), path=path)
            before[path] = done

        yield step
