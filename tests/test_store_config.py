# tenner test: settings are checked with sentences, defaults stay in the table.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import unittest

from support import ROOT, temp_folder
from tenner import log
from tenner.store import config as config_module
from tenner.store import configload, files
from tenner.store.config import Config, ConfigError, default, find, rows


class TestConfig(unittest.TestCase):
    def setUp(self):
        self.path = temp_folder(self) + "/config.json"

    def load(self, text, env=None):
        files.write_atomic(self.path, text)
        return configload.load(self.path, env or {})

    def error(self, text, env=None):
        with self.assertRaises(ConfigError) as caught:
            self.load(text, env)
        return str(caught.exception)

    def test_no_file_is_all_defaults(self):
        config = configload.load(self.path, {})
        for key, value in (
            ("name", "tenner"),
            ("time.zone", "UTC0"),
            ("llm.api", "chat"),
            ("llm.api_key", ""),
            ("llm.fallbacks", []),
            ("telegram.base_url", "https://api.telegram.org"),
            ("telegram.owner", ""),
            ("telegram.allow", []),
            ("heartbeat.every", 1800),
            ("heartbeat.active_hours", ""),
            ("heartbeat.dedup_numbers", False),
            ("budget.person_reserve_percent", 20),
            ("console.enabled", True),
            ("tools.i2c", None),
            ("i2c.i2c0.freq", 100000),
            ("read_paths", []),
        ):
            self.assertEqual(config.get(key), value)
        self.assertEqual(config.section("tools"), {})
        for key in ("heartbeat", "nonsense", "heartbeat.evry", "i2c.i2c0"):
            with self.assertRaises(KeyError):
                config.get(key)

    def test_wrong_settings_keep_their_defaults_and_are_named(self):
        bad = {
            "str": (5, True, None, [], {}, "a\nb", "\x00", "a\x7f"),
            "url": (
                5,
                "x",
                "http://",
                "ftp://a",
                "http:/a",
                "https://a b",
                "http://a:99999",
                "a.b/c",
            ),
            "host": (5, "http://a", "a b", "a/b", "u@a", [], "a\tb"),
            "id": (True, None, [], {}, 1.5, "a\nb"),
            "bool": ("true", 1, 0, "yes", None, [], {}),
            "hours": ("8-22-1", "25:00-26:00", "08:00", 8, [], "08:00-08:00"),
            "zone": ("Nowhere", "Nowhere/Land", "+99:00", "", 5, None, [], {}, "UTC0\n"),
            "topic": ("a/#", "+/a", "$SYS", "a\nb", 5, None),
            "policy": ("perhaps", "", 1, True, None, {}, [{}]),
            "list": ("a", 5, None, True, {}, [[]], [None]),
            "objects": ("a", 5, {}, [5], [{}], [{"model": 5}], [{"model": "a", "x": 1}]),
            "int": ("5", 1.5, True, None, [], {}, -1000000000000, "many"),
            "number": ("north", True, [], {}, 1e9, -1e9),
            "choice": ("perhaps", "", 5, None, [], {}, True),
            "duration": ("soon", "5x", "-5m", 1.5, None, [], True, "m"),
        }
        count = 0
        for row in rows():
            key = row[0].replace("*", "0")
            for value in bad[configload.kind(row[1])]:
                if row[0].startswith("llm.fallbacks.") or value == "" and "(|" in row[1]:
                    continue
                files.write_atomic(self.path, json.dumps({key: value}))
                wrong = []
                config = configload.load(self.path, {}, wrong)
                self.assertEqual((len(wrong), config.section(key.split(".")[0])), (1, {}), key)
                self.assertTrue(wrong[0].find(key) > 0 and len(wrong[0]) < 400, wrong)
                self.assertEqual(config.get(key), default(row) if "tools." not in key else None)
                with self.assertRaises(ConfigError):
                    configload.load(self.path, {})
                count += 1
        self.assertTrue(count > 400, count)

    def test_a_name_has_no_signs_of_an_order(self):
        for name in ('a"b', "a{b", "a}b", "a`b", "a'b", "a\u202eb"):
            for settings in ({"name": name}, {"llm.fallbacks": [{"model": "m", "name": name}]}):
                self.assertIn("without quotes", self.error(json.dumps(settings)), name)
        self.assertEqual(self.load('{"name": "K\\u00fcche 2"}').get("name"), "K\u00fcche 2")

    def test_one_wrong_setting_leaves_the_others(self):
        wrong = []
        files.write_atomic(
            self.path, '{"name": "Fern", "mqtt": {"port": 0, "host": "nas"}, "web": 5, "x": {}}'
        )
        config = configload.load(self.path, {"TENNER_TURN_TIMEOUT_S": "x"}, wrong)
        self.assertEqual((config.get("name"), config.get("mqtt.host")), ("Fern", "nas"))
        self.assertEqual((config.get("mqtt.port"), config.get("turn.timeout_s")), (8883, 300))
        self.assertEqual(len(wrong), 4, wrong)

    def test_a_hint_names_no_secret_by_chance(self):
        for key, hint in (
            ("nonsense.key", "lists every key"),
            ("telegram.tokn", '"telegram.token"'),
            ("bot.token", "token"),
            ("x" * 5000, "lists every key"),
        ):
            self.assertTrue(hint in self.error(json.dumps({key: 1})), key)

    def test_nested_and_dotted(self):
        config = self.load(
            '{"name": "Fern", "heartbeat": {"every": "1h30m", "active_hours": "22:00-06:00"},'
            ' "telegram.owner": 12345, "telegram": {"allow": [7, "8"]},'
            ' "tools": {"i2c": ["read", "scan"], "message": "deny"},'
            ' "i2c": {"i2c0": {"scl": 5, "sda": "D4"}}, // a comment\n "budget": {}}'
        )
        self.assertEqual(config.get("name"), "Fern")
        self.assertEqual(config.get("heartbeat.every"), 5400)
        self.assertEqual(config.get("heartbeat.active_hours"), "22:00-06:00")
        self.assertEqual(config.get("telegram.owner"), "12345")
        self.assertEqual(config.get("telegram.allow"), ["7", "8"])
        self.assertEqual(config.get("tools.i2c"), ["read", "scan"])
        self.assertEqual(config.section("tools"), {"i2c": ["read", "scan"], "message": "deny"})
        self.assertEqual(config.section("i2c"), {"i2c0": {"scl": "5", "sda": "D4"}})
        self.assertEqual(config.get("i2c.i2c0.sda"), "D4")
        self.assertEqual(config.get("heartbeat.mode"), "reply")

    def test_durations_are_parsed(self):
        for text, seconds in (
            ("45", 2700),
            ('"45"', 2700),
            ('"60s"', 60),
            ('"30m"', 1800),
            ('"2H"', 7200),
            ('"1d"', 86400),
            ("0", 0),
            ('"0"', 0),
            ('"off"', 0),
            ("false", 0),
        ):
            config = self.load('{"heartbeat": {"every": %s}}' % text)
            self.assertEqual(config.get("heartbeat.every"), seconds)
        for text in (
            '"59s"',
            '"soon"',
            '"10"m',
            '""',
            '"m"',
            '"1h30"',
            "-5",
            "1.5",
            "true",
            "null",
            "[]",
        ):
            self.assertIn("config.json", self.error('{"heartbeat": {"every": %s}}' % text))

    def test_a_wrong_value_says_file_key_and_what_is_allowed(self):
        for text, words in (
            (
                '{"heartbeat":{"every":"soon"}}',
                ("heartbeat.every", '"30m"', "minutes", "from 60 to", "soon"),
            ),
            ('{"llm":{"max_tokens":1}}', ("llm.max_tokens", "16 to 32000", "not 1")),
            ('{"llm":{"max_tokens":"many"}}', ("whole number", "16")),
            ('{"llm":{"max_tokens":true}}', ("whole number",)),
            ('{"place":{"latitude":91.5}}', ("a number from -90 to 90",)),
            ('{"place":{"longitude":"13"}}', ("a number from -180 to 180",)),
            (
                '{"budget":{"tokens_per_day":-1}}',
                ("budget.tokens_per_day", "from 0 to 1000000000"),
            ),
            ('{"llm":{"api":"openai"}}', ("llm.api", '"chat"', '"messages"')),
            ('{"name":5}', ("name", "text")),
            ('{"console":{"enabled":"yes"}}', ("console.enabled", "true or false")),
            ('{"telegram":{"allow":"7"}}', ("telegram.allow", "list")),
            ('{"telegram":{"allow":[true]}}', ("telegram.allow", "number or text")),
            ('{"tools":{"i2c":"maybe"}}', ("tools.i2c", '"ask"')),
            ('{"tools":{"i2c":true}}', ("tools.i2c", '"ask"')),
            ('{"heartbeat":{"active_hours":"8-22"}}', ("heartbeat.active_hours", "HH:MM-HH:MM")),
            ('{"heartbeat":{"active_hours":"08:00-08:00"}}', ("different",)),
            ('{"heartbeat":{"active_hours":"25:00-26:00"}}', ("HH:MM",)),
            ('{"heartbeat":{"active_hours":"08:00-24:30"}}', ("HH:MM",)),
            ('{"mqtt":{"topic":"attic/#"}}', ("mqtt.topic", "topic without", "tenner/attic")),
            ('{"mqtt":{"topic":"a\\tb"}}', ("control characters",)),
            ('{"mqtt":{"topic":"$SYS/attic"}}', ("begin with $",)),
            ('{"mqtt":{"discovery":"home+assistant"}}', ("mqtt.discovery", "without +")),
            ('{"heartbeat":5}', ("heartbeat", "object of settings")),
            ('{"llm":{"fallbacks":{}}}', ("llm.fallbacks", "list of objects")),
            ('{"llm":{"fallbacks":[5]}}', ("llm.fallbacks.0", "object")),
            (
                '{"llm":{"fallbacks":[{"model":"m"},{"name":"x"}]}}',
                ("llm.fallbacks.1", "no model"),
            ),
            ('{"llm":{"fallbacks":[{"model":"m","api":"x"}]}}', ("llm.fallbacks.0.api", '"chat"')),
            (
                '{"llm":{"fallbacks":[{"model":"m","key":"x"}]}}',
                ("llm.fallbacks.0.key", "unknown key"),
            ),
            ("[]", ("object",)),
            ('{\n"name": "a"\n"wifi": {}}', ("line 3",)),
            ("", ("line 1",)),
            ('{"name":"' + "x" * 9300 + '"}', ("9216",)),
            (b'{"name":"\xff"}', ("UTF-8",)),
        ):
            message = self.error(text)
            for word in words + ("config.json",):
                self.assertIn(word, message)
            self.assertNotIn("\n", message)

    def test_a_setting_that_is_gone_does_no_harm(self):
        self.assertEqual(self.load('{"log": {"level": "debug"}}').section("log"), {})

    def test_an_unknown_key_names_the_nearest_and_the_line(self):
        for text, words in (
            ('{\n"heartbeat": {\n"evry": 5}}', ("heartbeat.evry", "line 3", '"heartbeat.every"')),
            ('{"telegram_token": "x"}', ("telegram_token", "line 1", '"telegram.token"')),
            ('{"owner": 5}', ("owner", '"telegram.owner"')),
            ('{"llm": {"apikey": "x"}}', ("llm.apikey", '"llm.api_key"')),
            ('{"heartbeats": {"every": 5}}', ("heartbeats", "line 1")),
            ('{"quite_something_else": 1}', ("quite_something_else", "lists every key")),
            ('{"i2c": {"i2c0": {"speed": 1}}}', ("i2c.i2c0.speed", "line 1")),
        ):
            message = self.error(text)
            for word in words:
                self.assertIn(word, message)

    def test_a_name_lets_nobody_in(self):
        for values, key in (
            ({"telegram.owner": "@alice"}, "telegram.owner: @alice"),
            ({"telegram.allow": ["7", "@alice"]}, "telegram.allow: @alice"),
            ({"telegram.allow": ["alice"]}, "telegram.allow: alice"),
            ({"telegram.owner": "7:12", "telegram.allow": ["-1007", "8"]}, ""),
            ({"telegram.owner": 7, "telegram.allow": [-1007, 8]}, ""),
            ({}, ""),
        ):
            problem = configload.nobody(values)
            self.assertEqual(problem[: len(key)] if key else problem, key)
            self.assertEqual("number" in problem, bool(key))

    def test_secrets_are_hidden_in_errors_and_logs(self):
        self.assertNotIn("hunter", self.error('{"wifi":{"password":["hunter2hunter2"]}}'))
        config = self.load(
            '{"llm":{"api_key":"sk-test-abcdef","fallbacks":[{"model":"m","api_key":"sk-test-fallback"}]}}',
            {"TENNER_TELEGRAM_TOKEN": "77:token-of-a-bot"},
        )
        self.assertEqual(config.get("llm.api_key"), "sk-test-abcdef")
        for secret in ("sk-test-abcdef", "sk-test-fallback", "77:token-of-a-bot"):
            self.assertEqual(log.redact("see %s here" % secret), "see *** here")

    def test_environment_wins_over_the_file(self):
        config = self.load(
            '{"heartbeat":{"every":"2h"},"name":"file"}',
            {
                "TENNER_HEARTBEAT_EVERY": "5m",
                "TENNER_LLM_API_KEY": "from-env",
                "TENNER_TELEGRAM_ALLOW": "1, 2,3",
                "TENNER_HEARTBEAT_DEDUP_NUMBERS": "on",
                "TENNER_LLM_MAX_TOKENS": "99",
                "TENNER_LLM_FALLBACKS": '[{"model":"m"}]',
                "TENNER_UNRELATED": "x",
            },
        )
        self.assertEqual(config.get("heartbeat.every"), 300)
        self.assertEqual(config.get("llm.api_key"), "from-env")
        self.assertEqual(config.get("telegram.allow"), ["1", "2", "3"])
        self.assertEqual(config.get("heartbeat.dedup_numbers"), True)
        self.assertEqual(config.get("llm.max_tokens"), 99)
        self.assertEqual(config.get("llm.fallbacks"), [{"model": "m"}])
        self.assertEqual(config.get("name"), "file")

    def test_a_wrong_environment_value_names_the_variable(self):
        for name, text, word in (
            ("TENNER_LLM_MAX_TOKENS", "many", "whole number"),
            ("TENNER_HEARTBEAT_EVERY", "soon", "duration"),
            ("TENNER_CONSOLE_ENABLED", "maybe", "true or false"),
            ("TENNER_LLM_API", "x", "messages"),
            ("TENNER_LLM_FALLBACKS", "[", "line 1"),
            ("TENNER_LLM_FALLBACKS", "[{}]", "no model"),
        ):
            message = self.error("{}", {name: text})
            self.assertIn(word, message)
            self.assertIn(name, message)
            self.assertIn("environment", message)

    def test_every_row_of_the_table_is_whole_and_its_default_is_of_its_type(self):
        keys = []
        # A build leaves out the column for people.
        built = not any(row[5] for row in rows())
        for key, kind, text, _, _, meaning in rows():
            self.assertTrue(meaning or built)
            self.assertNotIn(key, keys)
            keys.append(key)
            value = default((key, kind, text))
            if configload.kind(kind) == "duration":
                self.assertEqual(configload.convert(kind, text), value)
            elif value is not None:
                self.assertEqual(configload.convert(kind, value), value)
        self.assertTrue(len(keys) > 40)

    def test_every_row_is_found_by_its_key(self):
        for row in rows():
            key = row[0].replace("*", "some")
            self.assertEqual(find(key), row)
            self.assertEqual(find(key + "x"), row if row[0].endswith("*") else None)
            self.assertEqual(find(key[1:]), None)
        for key in ("", ".", "tools", "*", "llm", "key", "x" * 500, "llm.model\tstr", "a.b.c.d.e"):
            self.assertEqual(find(key), None)

    def test_asking_for_a_policy_opens_no_file(self):
        config = Config({"tools.gpio": "ask"})
        config_module._places = (("/nowhere", 0, 0),)
        self.addCleanup(setattr, config_module, "_places", ())
        self.assertEqual((config.get("tools.gpio"), config.get("tools.i2c")), ("ask", None))
        with self.assertRaises(OSError):
            config.get("llm.max_tokens")

    def test_the_commented_template_is_valid_and_complete(self):
        template = ROOT + "/firmware/config.example.jsonc"
        text = files.read_text(template)
        # As it stands, and with every setting switched on.
        self.assertEqual(self.load(text).get("llm.model"), "")
        config = self.load(text.replace('//"', '"'))
        for key, kind, shown, _, _, meaning in rows():
            self.assertIn(meaning, text)
            if "*" not in key and configload.kind(kind) != "objects":
                expected = default((key, kind, shown))
                self.assertEqual(config.get(key), expected)


if __name__ == "__main__":
    unittest.main()
