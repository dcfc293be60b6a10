# tenner tools.usertools: checks that a schema the owner dropped in is fit for a model.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.store import files, jsontext

_MAX_NAME = const(64)
_MAX_SCHEMA = const(4096)


def problem(path, name):
    """Say what is wrong with the schema file of the tool `name`, or None: one bad one spoils every request."""
    plain = name.replace("_", "a").replace("-", "a")
    if len(name) > _MAX_NAME or [c for c in plain if not (c.isalpha() or c.isdigit())]:
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
