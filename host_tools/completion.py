"""`tenner completion`: the shell completes commands, options, ports and names of boards."""

from __future__ import annotations

import os
from pathlib import Path

import rich_click as click
from click.shell_completion import get_completion_class

from host_tools.errors import CommandError

_VARIABLE = "_TENNER_COMPLETE"
_SHELLS = ("bash", "zsh", "fish")


def _home(shell: str) -> Path:
    """Where a shell looks for the completions of a user."""
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return {
        "bash": data / "bash-completion" / "completions" / "tenner",
        "zsh": Path(os.environ.get("ZDOTDIR") or Path.home()) / ".zfunc" / "_tenner",
        "fish": config / "fish" / "completions" / "tenner.fish",
    }[shell]


def script(shell: str) -> str:
    """The shell's code, as click makes it."""
    from host_tools.cli import main

    made = get_completion_class(shell)
    assert made is not None
    return str(made(main, {}, "tenner", _VARIABLE).source())


@click.command()
@click.argument("shell", required=False, type=click.Choice(_SHELLS))
@click.option("--install", is_flag=True, help="Put it where the shell finds it.")
def completion(shell: str | None, install: bool) -> None:
    """Print the code by which a shell (yours, when none is named) completes commands and options, or install it."""
    chosen = shell or Path(os.environ.get("SHELL", "")).name
    if chosen not in _SHELLS:
        raise CommandError(f"there is completion for {', '.join(_SHELLS)}: name one of them")
    if not install:
        click.echo(script(chosen))
        return
    path = _home(chosen)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script(chosen) + "\n", encoding="utf-8")
    except OSError as exc:
        raise CommandError(f"{path} cannot be written: {exc.strerror or exc}") from exc
    click.echo(f"completion for {chosen} is in {path}; new shells have it")
    if chosen == "zsh":
        click.echo(
            f"if they do not, put into ~/.zshrc: fpath+=({path.parent}); autoload -Uz compinit; compinit"
        )
