# tenner tools.verify: is a model's call right? Loaded before a tool runs, and let go of before it does.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.net.strictjson import loads
from tenner.port.compat import const
from tenner.tools import ToolError, check

_MAX_ARGUMENTS = const(16384)


def verify(registry, name, arguments_text, ctx):
    """Return (module, arguments) of a call that is right so far; ToolError, or a port's OSError, if not."""
    path = registry.schema_path(name, ctx)
    if len(arguments_text) > _MAX_ARGUMENTS:
        raise ToolError(
            "%s: %d characters of arguments are too many (%d): do it in parts"
            % (name, len(arguments_text), _MAX_ARGUMENTS)
        )
    module = registry.module(name)
    if hasattr(module, "CHECKED_THERE"):
        schema = {}
    else:
        with open(path) as file:
            schema = json.load(file)
    if name in registry.built_in:
        check.complete(schema, getattr(module, "LIMITS", ()))
    try:
        args = loads(arguments_text.strip() or "{}")
        if not isinstance(args, dict):
            raise ValueError("expected an object")
        wrong = schema and check.problem(schema, args)
    except ValueError as error:
        from tenner.tools.mistakes import example

        wrong = "the arguments are not JSON: %s. Example: %s" % (error, example(schema, {}))
    if wrong:
        raise ToolError("%s: %s" % (name, wrong))
    if hasattr(module, "check"):
        module.check(args, ctx)
    return module, args
