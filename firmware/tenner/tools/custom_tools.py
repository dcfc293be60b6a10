# tenner tools.custom_tools: checks and loads the owner's own tools.
# MIT license; Copyright (c) 2026 the tenner authors

import os

from tenner.log import log
from tenner.mcp import plain_schema
from tenner.port.compat import const
from tenner.store import expose, files, json_strict
from tenner.tools import built_in
from tenner.tools.built_in import declared
from tenner.tools.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from tenner.tools.types import Own


_MAX_NAME = const(64)
_MAX_SCHEMA = const(4096)


def tools(registry: "Own") -> "Iterator[tuple[str, tuple[str, int, int], str, str]]":
    """
    Yield (name, place of the schema, NEEDS, TURNS) of the tools with a valid schema; a broken one
    would spoil every request.
    """
    folder = registry.user_folder
    cache = registry.schema_cache
    for entry in os.listdir(folder):
        if not entry.endswith(".json"):
            continue
        name = entry[:-5]
        path = folder + "/" + entry
        size = files.size(path)
        own = registry.port.path("state/own/%s.json" % name)
        if cache.get(name) not in (size, -size):
            wrong = _problem(path, name) or _make_plain(path, own)
            server, dash, _ = name.partition("-")
            if name in built_in.names() or (dash and server in registry.servers):
                wrong = "a built-in tool or one of an MCP server has this name"
            cache[name] = -size if wrong else size
            if wrong:
                log("tool", "%s is left out: %s" % (path, wrong))
        if cache[name] == size:
            needs, turns = declared(path[:-4] + "py")
            place = (own, 0, files.size(own)) if files.size(own) > 0 else (path, 0, size)
            yield name, place, needs, turns


def _make_plain(path, own):
    """Write the schema to `own` if some models refuse words of it; return the reason if flash
    fails."""
    data = files.read_text(path, _MAX_SCHEMA).encode()
    plain = plain_schema.plain_tool(data)
    try:
        if plain == data:
            if files.exists(own):
                files.remove(own)
        elif files.size(own) != len(plain) or files.read_text(own).encode() != plain:
            files.make_dirs(own.rsplit("/", 1)[0])
            files.write_atomic(own, plain)
    except OSError as error:
        return error
    return None


def _problem(path, name):
    """Return the problem of a schema file, or None."""
    plain = name.replace("_", "a").replace("-", "a")
    if len(name) > _MAX_NAME or not all(c.isalpha() or c.isdigit() for c in plain):
        return "a tool's name has letters, digits, _ and - only"
    try:
        schema = json_strict.loads(files.read_text(path, _MAX_SCHEMA))
    except (OSError, ValueError) as error:
        return error
    if not isinstance(schema, dict) or schema.get("name") != name:
        return 'it must be an object with "name": "%s"' % name
    parameters = schema.get("parameters")
    if not isinstance(parameters, dict) or parameters.get("type") != "object":
        return 'it needs "parameters": {"type": "object", ...}'
    return None


def load(folder: str, name: str) -> "ModuleType":
    """Return the module of a tool in this folder."""
    try:
        return expose.load(folder, name)
    except (ImportError, SyntaxError) as error:
        raise ToolError("the owner's tool %s cannot be loaded: %s" % (name, error))
