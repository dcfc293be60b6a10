# tenner tools.usertools: the tools the owner dropped in: fit for a model, and loaded.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files, jsontext, owned
from tenner.tools import ToolError
from tenner.tools.registry import schema_names

_MAX_NAME = const(64)
_MAX_SCHEMA = const(4096)


def names(registry):
    """Return the names of the tools whose schema is sound: a broken one would spoil every request."""
    found = []
    for name in schema_names(registry.user_folder):
        path = "%s/%s.json" % (registry.user_folder, name)
        size = files.size(path)
        if registry.seen.get(name) not in (size, -size):
            wrong = _problem(path, name)
            if name in registry.built_in or registry.is_mcp(name):
                wrong = "a built-in tool or one of an MCP server has this name"
            registry.seen[name] = -size if wrong else size
            if wrong:
                log("tool", "%s is left out: %s" % (path, wrong))
        if registry.seen[name] == size and registry.config.get("tools." + name) != "deny":
            found.append(name)
    return found


def _problem(path, name):
    """Say what is wrong with a schema file, or None."""
    plain = name.replace("_", "a").replace("-", "a")
    if len(name) > _MAX_NAME or not all(c.isalpha() or c.isdigit() for c in plain):
        return "a tool's name has letters, digits, _ and - only"
    try:
        schema = jsontext.loads(files.read_text(path, _MAX_SCHEMA))
    except (OSError, ValueError) as error:
        return error
    if not isinstance(schema, dict) or schema.get("name") != name:
        return 'it must be an object with "name": "%s"' % name
    parameters = schema.get("parameters")
    if not isinstance(parameters, dict) or parameters.get("type") != "object":
        return 'it needs "parameters": {"type": "object", ...}'
    return None


def module(folder, name):
    """Return the module of a tool, imported on its first use."""
    try:
        return owned.load(folder, name)
    except (ImportError, SyntaxError) as error:
        raise ToolError("the owner's tool %s cannot be loaded: %s" % (name, error))
