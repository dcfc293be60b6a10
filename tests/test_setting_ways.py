# tenner test: a wrong value of any setting is refused on every way into the agent.
# MIT license; Copyright (c) 2026 the tenner authors
import json
import os
import sys
import unittest
from binascii import hexlify
from hashlib import sha256

from setting_values import kind, wrong_json, wrong_texts
from support import read_bytes, run, temp_folder, write_bytes
from tenner import log
from tenner.app import App as Agent
from tenner.page import settings
from tenner.page.request import Refused
from tenner.port import open_port
from tenner.remote import change
from tenner.store import config, configload, files

#: The least number of wrong values of each setting on each way.
LEAST = 20
#: A part of each sentence about a value that is none of its type.
REASONS = ("must be", "expected", "no model", "unknown key", "9216")


class App:
    """The parts of the agent that the ways need."""

    def __init__(self, root):
        self.port = open_port(root)
        self.workspace = root + "/workspace"
        self.state = root + "/state"


class Request:
    """A request of the page."""

    def __init__(self, changes):
        self.changes = changes

    def object(self):
        return {"changes": self.changes}


def named(row):
    """Return a key of the row."""
    return row[0].replace("*", "0")


def in_file(row, text):
    """Return a settings file in which a setting has the JSON value `text`."""
    key = named(row)
    if key.startswith("llm.fallbacks.0."):
        name = key.split(".")[-1]
        model = "" if name == "model" else '"model": "m", '
        return '{"llm.fallbacks": [{%s"%s": %s}]}' % (model, name, text)
    return '{"name": "kept", "%s": %s}' % (key, text) if key != "name" else '{"name": %s}' % text


def begin(case):
    """Give a test a root folder, its log as `lines`, and no secrets of others."""
    case.root = temp_folder(case)
    case.path = case.root + "/config.json"
    case.lines = []
    # Also the wrong values of secrets must not be those of the tests after these.
    for name, value in (("write", case.lines.append), ("_secrets", []), ("_short", [])):
        case.addCleanup(setattr, log, name, getattr(log, name))
        setattr(log, name, value)


class TestWays(unittest.TestCase):
    def setUp(self):
        begin(self)
        self.app = App(self.root)
        self.before = b'{"name": "before"}'
        write_bytes(self.path, self.before)

    def check(self, row, sentence, text):
        """A sentence names the setting and the reason, and no secret."""
        where = (row[0], text, sentence)
        key = named(row)
        if key.startswith("llm.fallbacks.0."):
            # A member is refused with its object.
            key = "llm.fallbacks"
        self.assertTrue(key in sentence, where)
        self.assertTrue(any(one in sentence for one in REASONS), where)
        self.assertTrue(len(sentence) < 500 and "\n" not in sentence, where)
        self.assertTrue(
            config.is_plain(sentence.replace("\ufffd", "")) and "Error" not in sentence, where
        )
        self.assertTrue("invalid literal" not in sentence, where)
        if row[4] and len(text) > 6:
            self.assertTrue(text.strip('"') not in sentence, where)
        # Nothing is written.
        self.assertEqual(read_bytes(self.path), self.before)

    def each(self, values, refuse):
        """`refuse(row, text)` returns the sentence of each wrong value."""
        for row in config.rows():
            found = values(row[1])
            self.assertTrue(len(found) >= LEAST, row)
            if sys.implementation.name == "micropython" and len(found) >= 2 * LEAST:
                # It is slow, and has the same table.
                found = found[::2]
            for text in found:
                sentence = refuse(row, text)
                self.assertTrue(sentence, ("taken", row[0], text))
                self.check(row, sentence, text)
            self.assertEqual(sorted(os.listdir(self.root)), ["config.json"])

    def test_the_page(self):
        def refuse(row, text):
            try:
                run(settings.change(self, None, Request({named(row): text})))
            except Refused as error:
                self.assertTrue(error.status in (400, 422))
                if row[4]:
                    self.assertTrue("is a secret" in str(error), str(error))
                    return named(row) + " must be asked for"
                return str(error)

        self.each(wrong_texts, refuse)

    def test_the_owners_computer_over_the_air(self):
        def refuse(row, text):
            data = in_file(row, text).encode()
            size = len(data)
            digest = hexlify(sha256(data).digest()).decode()
            change.write(self.app, "/config.json", 0, size, data)
            try:
                change.commit(self.app, "/config.json", digest, "*", "mqtt")
            except ValueError as error:
                return str(error)

        self.each(wrong_json, refuse)

    def test_settings_that_this_board_cannot_have(self):
        if self.app.port.kind != "linux":
            self.skipTest("of Linux")
        for key, text in (("power.mode", "sleep"), ("i2c.0.scl", "5"), ("spi.x.cs", "5")):
            # Over the air power.* is refused in any case.
            place = "power.*" if key == "power.mode" else "/config.json: " + key
            with self.assertRaises(Refused) as caught:
                run(settings.change(self, None, Request({key: text})))
            self.assertTrue(key in str(caught.exception))
            data = json.dumps({key: text}).encode()
            change.write(self.app, "/config.json", 0, len(data), data)
            with self.assertRaises(ValueError) as caught:
                digest = hexlify(sha256(data).digest()).decode()
                change.commit(self.app, "/config.json", digest, "*", "mqtt")
            self.assertTrue(place in str(caught.exception))
            self.assertEqual(read_bytes(self.path), self.before)

    def test_the_environment(self):
        def refuse(row, text):
            variable = "TENNER_" + row[0].upper().replace(".", "_")
            try:
                configload.load(self.path, {variable: text})
            except configload.ConfigError as error:
                self.assertTrue(variable in str(error))
                return "%s %s" % (named(row), error)
            return "expected " + named(row) if "*" in row[0] else ""

        self.each(wrong_texts, refuse)


class TestStart(unittest.TestCase):
    """A file that was edited by hand."""

    def setUp(self):
        begin(self)

    def start(self, text):
        """Return an agent with this file."""
        write_bytes(self.path, text.encode())
        return Agent(self.root)

    def test_wrong_values_of_all_settings_at_once(self):
        rows = list(config.rows())
        many = [wrong_json(row[1]) for row in rows]
        for turn in range(max(len(one) for one in many)):
            lines = []
            told = []
            for row, found in zip(rows, many):
                text = found[turn % len(found)]
                if len(text) < 1000 and not row[0].startswith("llm.fallbacks."):
                    lines.append('"%s": %s' % (named(row), text))
                    told.append(row)
            app = self.start("{%s}" % ",\n".join(lines))
            self.assertEqual(len(app.wrong), len(told), (turn, app.wrong))
            for row, sentence in zip(sorted(told), self.in_order(told, app.wrong)):
                self.assertTrue(len(sentence) < 500 and "\n" not in sentence, sentence)
                instead = row[2] or "not set"
                self.assertTrue(sentence.endswith("; until then it is " + instead), sentence)
                if kind(row[1]) != "policy":
                    self.assertEqual(app.config.get(named(row)), config.default(row))

    def in_order(self, told, wrong):
        """Return the sentence of each row."""
        found = []
        for row in sorted(told):
            key = named(row)
            # A member of an object is named itself.
            places = (": %s must be" % key, ": %s." % key, 'unknown key "%s.' % key)
            mine = [one for one in wrong if any(place in one for place in places)]
            self.assertEqual(len(mine), 1, (row, mine))
            found.append(mine[0])
        return found

    def test_values_too_long_for_a_file_of_all(self):
        for row in config.rows():
            if not row[0].startswith("llm.fallbacks."):
                app = self.start('{"%s": "%s"}' % (named(row), "x" * 5000))
                self.assertEqual(len(app.wrong), 1)
                self.assertTrue(len(app.wrong[0]) < 500, app.wrong)

    def test_no_key_is_told(self):
        secret = "sk-0123456789"
        for text in (
            '{"llm": {"fallbacks": {"model": "m", "api_key": "%s"}}}',
            '{"llm": {"fallbacks": [{"model": "m", "api_key": ["%s"]}]}}',
            '{"llm": {"fallbacks": "%s"}}',
            '{"llm": {"api_key": {"a": "%s"}}}',
            '{"llm": {"model": {"api_key": "%s"}}}',
            '{"telegram": {"token": ["%s"]}}',
            '{"telegram": {"allow": [{"token": "%s"}]}}',
            '{"mcp": {"nas": {"token": ["%s"]}}}',
            '{"mcp": {"nas": ["%s"]}}',
            '{"wifi": ["%s"]}',
        ):
            app = self.start(text % secret)
            self.assertEqual(len(app.wrong), 1, text)
            self.assertTrue(secret not in app.wrong[0], app.wrong)

    def test_settings_that_this_board_cannot_have(self):
        if open_port(self.root).kind != "linux":
            self.skipTest("of Linux")
        app = self.start(
            '{"power": {"mode": "sleep"}, "i2c": {"0": {"scl": 5, "freq": 1000}, "b": {"sda": 1}},'
            ' "name": "kept"}'
        )
        told = sorted(app.wrong)
        self.assertEqual(len(told), 4, told)
        for key, sentence in zip(("i2c.0.freq", "i2c.0.scl", "i2c.b.sda", "power.mode"), told):
            self.assertTrue(sentence.startswith(key) and "; until then it is " in sentence, told)
        self.assertEqual((app.config.get("power.mode"), app.config.get("name")), ("on", "kept"))
        # A new version must take the settings of the old one, or its trial fails.
        files.make_dirs(self.root + "/lib")
        write_bytes(self.root + "/lib/trial", b"1")
        with self.assertRaises(ValueError):
            self.start('{"power": {"mode": "sleep"}}')


if __name__ == "__main__":
    unittest.main()
