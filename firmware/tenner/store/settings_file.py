# tenner store.settings_file: changes settings in config.json.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import os

from tenner.port import open_port
from tenner.store import configload, files, json_strict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.port import Port

_NEW = ".new"


def load(port: "Port") -> dict:
    """Return the settings in the file; ValueError if it cannot be read."""
    path = _path(port)
    if not files.exists(path):
        return {}
    try:
        found = json_strict.loads(files.read_text(path))
    except ValueError as error:
        raise ValueError("config.json: %s" % error)
    return found if isinstance(found, dict) else {}


def change(port: "Port", values: dict) -> None:
    """Write each value to its key, such as telegram.allow, and remove the keys of None. ValueError
    with a sentence, and an unchanged file, if the agent would not start with that."""
    tree = load(port)
    for key in values:
        _put(tree, key, values[key])
    _write(port, tree)


def _path(port):
    return getattr(port, "settings", "") or port.path("config.json")


def _put(tree, key, value):
    sections = key.split(".")
    name = sections.pop()
    for section in sections:
        tree = tree.setdefault(section, {})
        if not isinstance(tree, dict):
            raise ValueError("%s: %s is a setting, not a section" % (key, section))
    if value is not None:
        tree[name] = value
    elif name in tree:
        del tree[name]


def _write(port, tree):
    """Replace the file by one with which the agent starts."""
    path = _path(port)
    try:
        mode = os.stat(path)[0] if files.exists(path) else 0
        with open(path + _NEW, "wb") as file:
            if mode and hasattr(os, "chmod"):
                # It has secrets.
                os.chmod(path + _NEW, mode & 0x1FF)
            files.put(file, "".join(_text(tree, "")) + "\n")
            files.sync(file)
        try:
            configload.check(path + _NEW, open_port(port.root))
        except ValueError as error:
            raise ValueError(str(error).replace(path + _NEW, "config.json"))
        files.rename(path + _NEW, path)
    except OSError as error:
        raise ValueError("this agent may not write its settings (%s): use `tenner setup`" % error)
    finally:
        if files.exists(path + _NEW):
            files.remove(path + _NEW)


def _text(value: "Any", indent: str) -> "list[str]":
    """Return JSON for people; MicroPython's has no line breaks, and no order."""
    if not isinstance(value, dict):
        return [json.dumps(value)]
    if not value:
        return ["{}"]
    lines = []
    for name in sorted(value):
        if value[name] != {}:
            lines.append((",\n" if lines else "{\n") + indent + " " + json.dumps(name) + ": ")
            lines.extend(_text(value[name], indent + " "))
    return lines + ["\n" + indent + "}"] if lines else ["{}"]
