# tenner store.configload: reads config.json and the environment into checked settings, once.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The types of the table's second column:

    str  str(..32)  str(name)  id  bool  hours  zone  url  host  topic  policy  list  objects
    int(1..100)  number(-90..90)  choice(a|b)  duration(60..86400)

`str(..32)` is text of at most 32 bytes; a `str(name)` has no quotes and no braces. `id` takes a
number or text and gives text. `duration(60..86400)` takes "30m", "1h30m", "off" or a bare number
of minutes, gives seconds, and is either 0 or within these limits. `zone` gives the rule of a
place. `policy` is allow, ask, deny or a list of allowed uses.
"""

import json
import os

from tenner.log import hide, is_odd, log, visible
from tenner.port.compat import const
from tenner.store import files, json_strict
from tenner.store.config import Config, ConfigError, find, is_plain, matches, rows
from tenner.store.hours import Hours
from tenner.store.posix_tz import Zone
from tenner.store.suggest import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tenner.port import Port

_MAX_BYTES = const(9216)
_LONGEST = const(4096)  # bytes of a text
_LONGEST_KEY = const(80)  # letters of an unknown key in a sentence
_LONGEST_ZONE = const(80)
_SECRET = const(4)
#: Signs that no name of a server has.
_NO_HOST = " /@?#\\\"'<>,;"
# Settings that older versions had; a file with them is still good.
_GONE = ("log",)


def load(path: str, env: dict[str, str] | None = None, wrong: "list[str] | None" = None) -> Config:
    """
    Return the Config of a file (absent: all defaults), and of the environment: TENNER_LLM_API_KEY
    is `llm.api_key`. `env` is a mapping; None takes the real environment, if the system has one.
    ConfigError on the first mistake; with a list `wrong` only if the file cannot be read: then a
    wrong setting keeps its default, and a sentence about it comes into the list.
    """
    values = {}
    if files.exists(path):
        if not files.is_file(path):
            # To open a pipe would wait forever.
            raise ConfigError("%s is not a file: put the settings in its place" % path)
        try:
            text = files.read_text(path, _MAX_BYTES)
            tree = json_strict.loads(text)
        except ValueError as error:
            raise ConfigError("%s: %s" % (path, error))
        if not isinstance(tree, dict):
            raise ConfigError('%s: must be an object, for example {"name": "tenner"}' % path)
        _Source(path, text, wrong).walk("", tree, values)
    getenv = getattr(os, "getenv", None) if env is None else env.get
    for row in rows() if getenv else ():
        variable = "TENNER_" + row[0].upper().replace(".", "_")
        text = getenv(variable)
        if text is not None and "*" not in row[0]:
            source = _Source("environment: " + variable, text, wrong)
            source.put(values, row[0], row, text, from_text)
    problem = nobody(values)
    if problem:
        log("config", problem)
    return Config(values)


def check(path: str, port: "Port | None" = None) -> Config:
    """Return the Config of a file if the agent uses all of it; ConfigError for the first
    mistake. `port`: of the board, and not of the running agent."""
    made = load(path, {})
    if port:
        try:
            port.configure(made)
        except ValueError as error:
            raise ConfigError("%s: %s" % (path, error))
    return made


def without(error: ValueError, key: str) -> str:
    """Return the sentence about a wrong setting, with the default that is used in its place."""
    row = find(key)
    return "%s; until then it is %s" % (error, row[2] if row and row[2] else "not set")


def nobody(values: dict) -> str:
    """Return a sentence about a name that lets nobody in, "" if there is none. It is no mistake: a
    public channel has a name, and may get messages."""
    for key in ("telegram.owner", "telegram.allow"):
        value = values.get(key) or ()
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if not str(one).replace(":", "").lstrip("-").isdigit():
                return (
                    "%s: %s lets nobody in, since anybody may take over a name. Set the number of "
                    "the person; the log names it when a stranger writes" % (key, one)
                )
    return ""


class _Source:
    """A source of settings: `place` and `text` are for the sentences about mistakes, and `wrong`
    takes these."""

    def __init__(self, place, text, wrong):
        self.place = place
        self.text = text
        self.wrong = wrong

    def fail(self, sentence):
        raise ConfigError("%s: %s" % (self.place, sentence))

    def put(self, values, key, row, value, read=None):
        """Add the checked value of a key; `read(type, text)` makes it of a text."""
        try:
            if read is not None:
                try:
                    value = read(row[1], value)
                except ValueError as error:
                    self.fail(error)
            values[key] = self.checked(key, row, value)
        except ConfigError as error:
            self.pass_over(error, without(error, key))

    def pass_over(self, error, sentence):
        """Go on without a setting, or raise the error."""
        if self.wrong is None:
            raise error
        self.wrong.append(sentence)

    def walk(self, prefix, tree, values):
        """Flatten `tree` into `values`, checking each entry against its row of the table."""
        for name in tree:
            key = prefix + name
            row = find(key)
            if row:
                self.put(values, key, row, tree[name])
            elif _is_section(key) and isinstance(tree[name], dict):
                self.walk(key + ".", tree[name], values)
            elif key in _GONE:
                log("config", "%s: %s has no effect any more; remove it" % (self.place, key))
            else:
                place = self.text.find('"%s"' % name)
                line = self.text[:place].count("\n") + 1
                shown = visible(key)[:_LONGEST_KEY]
                where = '"%s"' % shown + (" (line %d)" % line if place >= 0 else "")
                if _is_section(key):
                    sentence = "%s must be an object of settings" % where
                else:
                    sentence = "unknown key %s; %s" % (where, _hint(key))
                sentence = "%s: %s" % (self.place, sentence)
                self.pass_over(ConfigError(sentence), sentence)

    def checked(self, key, row, value):
        """Return the value ready for use; ConfigError names the allowed values."""
        try:
            value = convert(row[1], value)
        except ValueError as error:
            # A thing in place of an object may hold keys, too.
            is_secret = row[_SECRET] or row[1] == "objects" or "{" in json.dumps(value)
            shown = "***" if is_secret else visible(json.dumps(value))
            self.fail("%s must be %s, not %s" % (key, error, shown[:40]))
        if row[1] == "objects":
            value = [self.member("%s.%d." % (key, i), item) for i, item in enumerate(value)]
        if row[_SECRET]:
            hide(value)
        return value

    def member(self, prefix, item):
        """Check one object of a list against the rows `list.*.name`; `model` it must have."""
        found = {}
        if isinstance(item, dict):
            # One mistake makes all of it wrong.
            _Source(self.place, self.text, None).walk(prefix, item, found)
        if not found.get(prefix + "model"):
            self.fail(
                '%s: no model; it must be an object, for example {"model": "name"}' % prefix[:-1]
            )
        return {key[len(prefix) :]: found[key] for key in found}


def _is_section(key):
    """Does any row of the table lie below `key`?"""
    depth = key.count(".") + 1
    for row in rows():
        parts = row[0].split(".")
        if len(parts) > depth and matches(".".join(parts[:depth]), key):
            return True
    return False


def _hint(key):
    best = nearest(key, _names())
    return 'did you mean "%s"?' % best if best else "`tenner setup` lists every key"


def _names():
    """Yield every key, and before it its section."""
    for row in rows():
        if "." in row[0]:
            yield row[0].rpartition(".")[0]
        yield row[0]


# --- types


def kind(type_text: str) -> str:
    """Return `int` of `int(1..100)`."""
    return type_text.split("(")[0]


def typed(key: str, row: "Sequence", text: str) -> "Any":
    """Return the JSON value of a text that a person typed for `key`; ValueError is a sentence."""
    try:
        value = from_text(row[1], text)
    except ValueError as error:
        raise ValueError("%s: %s" % (key, error))
    try:
        convert(row[1], value)
    except ValueError as error:
        raise ValueError("%s: must be %s" % (key, error))
    return value


def from_text(type_text: str, text: str) -> "Any":
    """Return a text that a person typed as a JSON value; one that is none of the type stays
    text. ValueError: a list or an object with a mistake."""
    if not is_plain(text):
        return text
    name = kind(type_text)
    if name == "bool":
        return {"1": True, "on": True, "yes": True, "true": True}.get(
            text.lower(), False if text.lower() in ("0", "off", "no", "false") else text
        )
    if name in ("int", "number"):
        try:
            value = json_strict.loads(text)
        except ValueError:
            return text
        return value if isinstance(value, (int, float)) else text
    if name == "objects" or name in ("list", "policy") and text[:1] == "[":
        return json_strict.loads(text)
    if name == "list" or name == "policy" and "," in text:
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def convert(type_text: str, value: "Any") -> "Any":
    """Check a JSON value against a type and return it ready for use; ValueError names the allowed
    values."""
    name = kind(type_text)
    limits = type_text[len(name) + 1 : -1]
    is_text = isinstance(value, str)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    is_int = is_number and not isinstance(value, float)
    if is_text and not is_plain(value):
        raise ValueError("text without control characters")
    if is_text and len(value.encode()) > _LONGEST:
        raise ValueError("text of at most %d bytes" % _LONGEST)
    if name == "id" and (is_int or is_text):
        return str(value).strip()
    if name == "duration":
        seconds = _seconds(str(value) if is_int else "off" if value is False else value)
        if seconds == 0 or seconds is not None and _inside(limits, seconds):
            return seconds
    elif name in ("list", "policy") and isinstance(value, list):
        return [convert("id", item) for item in value]
    elif name == "zone" and is_text and len(value) <= _LONGEST_ZONE:
        try:
            return Zone(value).text
        except ValueError:
            pass
    elif (
        (name == "str" and is_text and _is_str(limits, value))
        or (name == "bool" and isinstance(value, bool))
        or (name == "int" and is_int and _inside(limits, value))
        or (name == "number" and (value is None or is_number and _inside(limits, value)))
        or (name == "choice" and value in limits.split("|"))
        or (name == "url" and is_text and (not value or _is_url(value)))
        or (name == "host" and is_text and (not value or _is_host(value, limits)))
        or (name == "hours" and is_text and _is_window(value))
        or (name == "topic" and is_text and _is_topic(value))
        or (name == "policy" and value in ("allow", "ask", "deny"))
        or (name == "objects" and isinstance(value, list))
    ):
        return value
    raise ValueError(_allowed(name, limits))


def _is_str(limits, text):
    """Is it short enough, or a name without signs of an order?"""
    if limits == "name":
        return not is_odd(text)
    return _inside(limits or "..", len(text.encode()))


def _inside(span, number):
    low, high = span.split("..")
    return (not low or number >= int(low)) and (not high or number <= int(high))


def _seconds(text):
    """Return the seconds of "45" (minutes), "30m", "1h30m" or "off"; None when it is no
    duration."""
    if text == "off":
        return 0
    if not isinstance(text, str) or not text:
        return None
    if text.encode().isdigit():
        text += "m"
    total = 0
    digits = ""
    for letter in text.lower():
        if "0" <= letter <= "9":
            digits += letter
        elif digits and letter in "smhd":
            total += int(digits) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[letter]
            digits = ""
        else:
            return None
    return None if digits else total


def _is_host(text, limits=""):
    """Is it the name or the address of a server, without its port unless `limits` allow one?"""
    host, _, port = text.partition(":")
    if limits == "port" and port.encode().isdigit() and len(port) < 6 and 0 < int(port) < 65536:
        text = host
    return bool(text) and text.count(":") != 1 and not any(one in _NO_HOST for one in text)


def _is_url(text):
    """Is it an address such as https://nas.local:8080/v1?"""
    scheme, _, rest = text.partition("://")
    host = rest.split("/")[0].split("?")[0].rpartition("@")[2]
    is_host = host[:1] == "[" or host.count(":") < 2 and _is_host(host, "port")
    return scheme in ("http", "https") and " " not in text and is_host


def _is_window(text):
    """Is it "", or HH:MM-HH:MM with two different ends?"""
    try:
        return not text or bool(Hours(text))
    except ValueError:
        return False


def _is_topic(text):
    """May a client publish to it? A broker disconnects for any other topic, without a reason."""
    return text[:1] != "$" and not any(one in "+#\x7f" or one < " " for one in text)


def _allowed(name, limits):
    low, _, high = limits.partition("..")
    if name in ("int", "number"):
        return "a%s number %s" % (
            " whole" if name == "int" else "",
            "from %s to %s" % (low, high) if high else "of at least " + low,
        )
    if name == "choice":
        return 'one of "%s"' % limits.replace("|", '", "')
    if name == "duration":
        return (
            'a duration such as "30s", "30m" or "2h" (a bare number is minutes; "off" switches '
            "it off), from %s to %s s" % (low, high)
        )
    if name == "str" and limits[:2] == "..":
        return "text of at most %s bytes" % high
    return {
        "str": (
            "text without quotes and braces"
            if limits
            else 'text in double quotes, for example "abc"'
        ),
        "url": 'an address such as "https://nas.local:8080/v1"',
        "host": 'the name or the address of a server, for example "nas.local"',
        "zone": (
            'a time zone such as "CET-1CEST,M3.5.0,M10.5.0/3", "+02:00" or a place that a board '
            'knows, as "Asia/Shanghai"; `tenner setup` knows all places'
        ),
        "id": "a number or text, for example 123456789",
        "bool": "true or false",
        "hours": 'a window "HH:MM-HH:MM" with two different ends, for example "08:00-22:00"',
        "topic": (
            "a topic without +, # or control characters that does not begin with $, for example "
            '"tenner/attic"'
        ),
        "policy": '"allow", "ask", "deny" or a list of allowed uses, for example ["read"]',
        "list": 'a list, for example ["a", "b"]',
        "objects": 'a list of objects, for example [{"model": "name"}]',
    }[name]
