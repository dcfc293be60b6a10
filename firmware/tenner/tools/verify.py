# tenner tools.verify: is a model's call right? Loaded before a tool runs, and let go of before it does.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.port.compat import const
from tenner.store.modules import forget
from tenner.tools import ToolError

_MAX_ARGUMENTS = const(16384)


def verify(registry, name, arguments_text, ctx):
    """Return (module, arguments) of a call that is right so far; ToolError, or a port's OSError, if not."""
    path = registry.schema_path(name, ctx)
    if len(arguments_text) > _MAX_ARGUMENTS:
        raise ToolError(
            "%s: %d characters of arguments are too many (%d): do it in parts"
            % (name, len(arguments_text), _MAX_ARGUMENTS)
        )
    args, wrong = _parsed(arguments_text)
    if ctx.port.small:
        # The tool's own code is read next, and needs the room.
        for prefix in ("tenner.net.strictjson", "tenner.net.jsonin"):
            forget(prefix)
    from tenner.tools import check

    module = registry.module(name)
    if hasattr(module, "CHECKED_THERE"):
        schema = {}
    else:
        with open(path) as file:
            schema = json.load(file)
    if name in registry.built_in:
        check.complete(schema, getattr(module, "LIMITS", ()))
    if wrong:
        from tenner.tools.mistakes import example

        wrong = "the arguments are not JSON: %s. Example: %s" % (wrong, example(schema, {}))
    elif schema:
        wrong = check.problem(schema, args)
    if wrong:
        raise ToolError("%s: %s" % (name, wrong))
    if hasattr(module, "check"):
        module.check(args, ctx)
    return module, args


def _parsed(text):
    """Return (arguments, None), or (None, what is wrong with their JSON)."""
    from tenner.net.strictjson import loads

    try:
        args = loads(text.strip() or "{}")
        if not isinstance(args, dict):
            raise ValueError("expected an object")
    except ValueError as error:
        return None, error
    return args, None
