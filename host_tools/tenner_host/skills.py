"""`tenner skills`: the built-in skills, and their way into the owner's workspace."""

from __future__ import annotations

import json
from pathlib import Path

import rich_click as click

from tenner_host import ROOT
from tenner_host.errors import CommandError
from tenner_host.output import echo, json_option, print_json
from tenner_host.places import write_whole
from tenner_host.project import Project

#: As an index on a web server it can be the target of a board's `skills.index`.
SKILLS = ROOT / "skills"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def skills() -> None:
    """Skills are texts that tell the agent how to do something. List, show and install them."""


@skills.command("list")
@json_option
def list_skills(as_json: bool) -> None:
    """The skills that ship, and which of them the workspace has."""
    workspace = _workspace()
    rows = [
        {**one, "installed": (workspace / one["name"] / "SKILL.md").exists()} for one in _index()
    ]
    if as_json:
        print_json({"skills": rows})
        return
    for row in rows:
        mark = "*" if row["installed"] else " "
        echo(f"{mark} {row['name']:16} {row['description']}")


@skills.command()
@click.argument("name")
def show(name: str) -> None:
    """Print the files of a skill."""
    for path in _files(name):
        echo(f"--- {path.name}\n{path.read_text(encoding='utf-8').rstrip()}")


@skills.command()
@click.argument("name")
@click.option("--force", is_flag=True, help="Write over files that were changed.")
def install(name: str, force: bool) -> None:
    """Put a skill into the workspace of this folder; `tenner sync` brings it to the board."""
    target = _workspace() / name
    paths = _files(name)
    changed = [
        path.name
        for path in paths
        if (target / path.name).exists() and (target / path.name).read_bytes() != path.read_bytes()
    ]
    if changed and not force:
        raise CommandError(
            f"{target} has other versions of {', '.join(changed)}; --force writes over them"
        )
    for path in paths:
        write_whole(target / path.name, path.read_bytes())
    echo(f"{target}: {', '.join(path.name for path in paths)}")
    echo(f'Then `tenner sync`, and tell the agent: "Set up the skill {name}."')


def _workspace() -> Path:
    return Project.find().root / "workspace" / "skills"


def _index() -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads((SKILLS / "index.json").read_text(encoding="utf-8"))[
        "skills"
    ]
    return found


def _files(name: str) -> list[Path]:
    """The files of a skill that ships, the main one last, as a board gets them."""
    names = [one["name"] for one in _index()]
    if name not in names:
        raise CommandError(f"there is no skill {name}; available: {', '.join(names)}")
    paths = sorted(
        (SKILLS / name).iterdir(), key=lambda path: (path.name == "SKILL.md", path.name)
    )
    return paths
