# tenner store.configload: config.json and the environment into checked settings, once at start-up.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import os

from tenner.log import hide
from tenner.port.compat import const
from tenner.store import configtypes, files, jsontext
from tenner.store.config import ConfigError, find, matches, rows

_MAX_BYTES = const(8192)
_SECRET = const(4)


def load(path, env):
    """Return {dotted key: value} of all that was set; ConfigError on the first mistake."""
    values = {}
    tree = _read(path)
    if tree:
        _walk(path, "", tree, values)
    _environment(os.getenv if env is None and hasattr(os, "getenv") else (env or {}).get, values)
    return values


def _read(path):
    if files.size(path) > _MAX_BYTES:
        raise ConfigError(
            "%s: %d bytes are more than the %d a settings file may have; move long texts to the workspace"
            % (path, files.size(path), _MAX_BYTES)
        )
    if not files.exists(path):
        return None
    try:
        tree = jsontext.loads(files.read_text(path, _MAX_BYTES))
    except ValueError as error:
        raise ConfigError("%s: %s" % (path, error))
    if not isinstance(tree, dict):
        raise ConfigError('%s: must be an object, for example {"name": "tenner"}' % path)
    return tree


def _walk(path, prefix, tree, values):
    """Flatten `tree` into `values`, checking each entry against its row of the table."""
    for name in tree:
        key = prefix + name
        value = tree[name]
        row = find(key)
        if row:
            values[key] = _checked(path, key, row, value)
        elif isinstance(value, dict) and _is_section(key):
            _walk(path, key + ".", value, values)
        elif _is_section(key):
            raise ConfigError(
                '%s: "%s" must be an object of settings%s' % (path, key, _line(path, name))
            )
        else:
            _unknown(path, key, name)


def _checked(path, key, row, value):
    try:
        value = configtypes.convert(row[1], value)
    except ValueError as error:
        shown = "***" if row[_SECRET] else json.dumps(value)
        if len(shown) > 40:
            shown = shown[:40] + "..."
        raise ConfigError("%s: %s must be %s, not %s" % (path, key, error, shown))
    if row[1] == "objects":
        value = [_object(path, "%s.%d" % (key, index), item) for index, item in enumerate(value)]
    if row[_SECRET]:
        hide(value)
    return value


def _object(path, key, item):
    """Check one object of a list against the rows `list.*.name`; `model` it must have."""
    if not isinstance(item, dict):
        raise ConfigError('%s: %s must be an object, for example {"model": "name"}' % (path, key))
    result = {}
    for name in item:
        row = find(key + "." + name)
        if not row:
            _unknown(path, key + "." + name, name)
        result[name] = _checked(path, key + "." + name, row, item[name])
    if not result.get("model"):
        raise ConfigError('%s: %s has no model, for example {"model": "name"}' % (path, key))
    return result


def _is_section(key):
    """Does any row of the table lie below `key`?"""
    depth = key.count(".") + 1
    for row in rows():
        parts = row[0].split(".")
        if len(parts) > depth and matches(".".join(parts[:depth]), key):
            return True
    return False


def _unknown(path, key, name):
    from tenner.store.nearest import nearest

    best = nearest(key, (row[0] for row in rows()))
    hint = '; did you mean "%s"?' % best if best else "; `tenner setup` lists every key"
    raise ConfigError('%s: unknown key "%s"%s%s' % (path, key, _line(path, name), hint))


def _line(path, name):
    """Where a name stands: " (line 4)", or nothing when it cannot be found as written."""
    place = files.read_text(path, _MAX_BYTES).split('"%s"' % name, 1)
    return " (line %d)" % (place[0].count("\n") + 1) if len(place) == 2 else ""


def _environment(getenv, values):
    for row in rows():
        key = row[0]
        if "*" in key:
            continue
        variable = "TENNER_" + key.upper().replace(".", "_")
        text = getenv(variable)
        if text is None:
            continue
        try:
            value = configtypes.from_text(row[1], text)
        except ValueError as error:
            raise ConfigError("environment: %s must be %s" % (variable, error))
        values[key] = _checked("environment", key, row, value) if row[1] == "objects" else value
        if row[_SECRET]:
            hide(text)
