"""Documents of `--json`, checked against their schemas."""

import datetime
import json

import jsonschema

from scripts.json_page import schemas

SCHEMAS = schemas()


def fits(name, text):
    """The document in `text`, which must fit the schema of `name`."""
    document = json.loads(text)
    checker = jsonschema.Draft202012Validator(SCHEMAS[name])
    problems = [
        f"{'/'.join(map(str, one.absolute_path))}: {one.message}"
        for error in checker.iter_errors(document)
        for one in error.context
    ]
    assert not problems, (problems, document)
    for moment in times(SCHEMAS[name]["anyOf"][0], document):
        assert datetime.datetime.fromisoformat(moment.replace("Z", "+00:00")).tzinfo, moment
    return document


def times(schema, value):
    """The times in a document."""
    for one in schema.get("anyOf", [schema]):
        if one.get("format") == "date-time" and value is not None:
            yield value
        for name, inner in one.get("properties", {}).items():
            if isinstance(value, dict) and name in value:
                yield from times(inner, value[name])
        for item in value if isinstance(value, list) else ():
            yield from times(one.get("items", {}), item)


def printed(name, output):
    """The document in all that a command printed; its messages stand before and behind it."""
    start = output.index("{")
    _, length = json.JSONDecoder().raw_decode(output[start:])
    return fits(name, output[start : start + length])
