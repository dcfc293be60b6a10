# tenner tools.install_skill: installs a skill after the owner has approved its text.
# MIT license; Copyright (c) 2026 the tenner authors

from hashlib import sha256

from tenner.port.compat import const
from tenner.store import files
from tenner.tools.errors import ToolError
from tenner.tools.paths import check_room
from tenner.tools.skill_index import address, entries, is_plain, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.tools.types import ToolContext


_MAX_FILE = const(8192)
_MAX_NAME = const(40)
_SHOWN = const(2048)  # characters of SKILL.md in a question
_SEEN = "seen"  # the argument with the hashes of the shown files
_MAIN = "SKILL.md"
_ENDINGS = (".md", ".json", ".txt", ".csv")

NEEDS = "skills.index"
LIMITS = {"name": (1, 128)}
OUTSIDE = True
ASK_ANYWAY = True


def subjects(args: dict) -> "Sequence[str]":
    return (args["name"],)


def check(args: dict, ctx: "ToolContext") -> None:
    name = _name(args["name"])
    if not is_plain(name) or not 0 < len(name) <= _MAX_NAME:
        raise ToolError('install_skill: "%s" is no name of a skill: use find_skills' % name[:60])
    _place(args, ctx)


def approval(args: dict, ctx: "ToolContext") -> tuple[str, str]:
    name = _name(args["name"])
    return (
        "install the skill %s from %s" % (name, _place(args, ctx)),
        "install the skill %s, which later turns may follow" % name,
    )


async def preview(args: dict, ctx: "ToolContext") -> str:
    """Return the text for the owner: the files with their sizes, and SKILL.md."""
    seen = {}
    told = []

    def take(one, body):
        seen[one] = sha256(body.encode()).digest()
        told.append("%s, %d bytes" % (one, len(body.encode())))
        if one == _MAIN:
            told.append(body[:_SHOWN])
            if len(body) > _SHOWN:
                told.append("[cut: the rest is at %s/%s]" % (_place(args, ctx), _MAIN))

    await _fetch(args, ctx, take)
    args[_SEEN] = seen
    return "\n".join(told)


async def run(args: dict, ctx: "ToolContext") -> str:
    name = _name(args["name"])
    folder = "%s/skills/%s" % (ctx.workspace, name)
    seen = args.get(_SEEN)
    done = []

    def take(one, body):
        if seen is not None and seen.get(one) != sha256(body.encode()).digest():
            raise ToolError("install_skill: %s changed since the owner saw it: try again" % one)
        check_room(ctx.workspace + "/", len(body.encode()))
        files.make_dirs(folder)
        files.write_atomic(folder + "/" + one, body, files.WORKSPACE_TEMP)
        done.append(one)

    await _fetch(args, ctx, take)
    return "installed skills/%s: %s. Read its %s" % (name, ", ".join(sorted(done)), _MAIN)


async def _fetch(args, ctx, take):
    """Call `take(name, text)` for each file of the skill; SKILL.md, which makes it a skill, comes
    last."""
    name = _name(args["name"])
    place = _place(args, ctx)
    lists = []

    def found(one, _, names):
        if one == name:
            lists.append([one for one in names if one != _MAIN])

    http = ctx.http()
    try:
        if place == address(ctx.config.get("skills.index")) + "/" + name:
            await entries(ctx, http, found)
            if not lists:
                raise ToolError('install_skill: the index has no "%s": use find_skills' % name)
        for one in (lists[0] if lists else []) + [_MAIN]:
            if not is_plain(one, "-_.") or one[0] == "." or not one.endswith(_ENDINGS):
                raise ToolError("install_skill: a skill has no file %s" % one[:60])
            body = await text(http, place + "/" + one, _MAX_FILE)
            if one == _MAIN and not body.startswith("---\nname: %s\n" % name):
                raise ToolError('install_skill: %s does not begin with "name: %s"' % (_MAIN, name))
            take(one, body)
    finally:
        await http.close()


def _name(name):
    return name.partition("@")[0].rstrip("/").rpartition("/")[2]


def _place(args, ctx):
    """Return the URL of the skill's folder."""
    name = args["name"]
    if name.startswith("github:"):
        return address(name)
    if "/" in name:
        raise ToolError("install_skill: use a name of find_skills, or github:owner/repo/folder")
    return address(ctx.config.get("skills.index")) + "/" + name
