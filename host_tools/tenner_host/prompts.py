"""Questions at a terminal: a wrong answer is explained in one sentence, and asked for again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import rich_click as click

from tenner_host.errors import CommandError
from tenner_host.output import echo, visible

T = TypeVar("T")

_YES_OR_NO = {"y": True, "yes": True, "n": False, "no": False}


def ask(title: str, default: str = "", *, hidden: bool = False, needed: str = "") -> str:
    """One answer, without the blanks at its ends; `default` for an empty one. `needed`: the
    sentence for no answer."""
    while True:
        try:
            text: str = click.prompt(
                visible(title),
                default=default,
                show_default=bool(default) and not hidden,
                hide_input=hidden,
                err=True,
            )
            text.encode()
        except UnicodeError:
            refuse("Some of these letters aren't UTF-8: set the terminal to it, or use others.")
            continue
        text = text.strip()
        if text or not needed:
            return text
        refuse(needed)


def ask_for(title: str, take: Callable[[str], T], default: str = "", *, hidden: bool = False) -> T:
    """Ask until `take` accepts the answer and return its result; its CommandError is shown."""
    while True:
        try:
            return take(ask(title, default, hidden=hidden))
        except CommandError as exc:
            refuse(exc.message)


def confirm(question: str, *, default: bool = False) -> bool:
    """Ask for yes or no; Enter is the default."""
    shown = "Y/n" if default else "y/N"

    def take(text: str) -> bool:
        if not text:
            return default
        if text.lower() not in _YES_OR_NO:
            raise CommandError("Answer y for yes or n for no.")
        return _YES_OR_NO[text.lower()]

    return ask_for(f"{question} [{shown}]", take)


def choose(title: str, choices: list[str], default: str) -> str:
    """One of the choices, which are lower-case."""

    def take(text: str) -> str:
        if text.lower() not in choices:
            raise CommandError(f"Answer {', '.join(choices[:-1])} or {choices[-1]}.")
        return text.lower()

    return ask_for(title, take, default)


def refuse(sentence: str) -> None:
    """Explain a wrong answer."""
    echo(sentence, fg="red", err=True)
