# tenner test: the owner's rules for addresses, against the host that is really contacted.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from tenner.net.web.guard import covers, straight
from tenner.tools.patterns import matches

SITES = "https://*.example.com/**"


class TestRules(unittest.TestCase):
    def test_a_rule_is_compared_with_host_and_path(self):
        for rule, url, expected in (
            (SITES, "https://www.example.com/a/b?c=d", True),
            (SITES, "https://a.b.example.com/", True),
            (SITES, "https://WWW.Example.COM/x", True),
            (SITES, "https://example.com/", False),
            (SITES, "http://www.example.com/", False),
            (SITES, "https://www.example.com:8443/", False),
            # Addresses that only look like it.
            (SITES, "https://evil?.example.com/", False),
            (SITES, "https://evil#.example.com/", False),
            (SITES, "https://evil/.example.com/", False),
            (SITES, "https://evil:443#.example.com/x", False),
            (SITES, "https://www.example.com.evil/", False),
            (SITES, "https://evil/https://www.example.com/", False),
            ("https://example.com/*", "https://example.com/a", True),
            ("https://example.com/*", "https://example.com/a/b", False),
            ("https://example.com/a", "https://example.com/a?b", False),
            ("https://example.com/docs/**", "https://example.com/docs/../secret", False),
            ("https://example.com/docs/**", "https://example.com/docs/%2e%2E/secret", False),
            ("https://example.com/docs/**", "https://example.com/other/../docs/a", True),
            ("https://example.com", "https://example.com/", True),
            ("https://example.com", "https://example.com/a", False),
            ("https://example.com**", "https://example.com/a", True),
            ("https://example.com**", "https://example.com.evil/a", False),
            ("https://**", "https://any.where/a/b", True),
            ("https://**", "http://any.where/", False),
            ("**", "http://any.where/", True),
            ("http://nas.local:8080/**", "http://nas.local:8080/a", True),
            ("http://nas.local:8080/**", "http://nas.local/a", False),
            ("http://nas.local:*/**", "http://nas.local:81/a", True),
            ("http://[2001:db8::1]/**", "http://[2001:db8::1]/a", True),
            ("nonsense", "https://example.com/", False),
        ):
            self.assertEqual(covers(rule, straight(url), matches), expected, (rule, url))

    def test_what_is_asked_for_is_what_was_compared(self):
        for url, expected in (
            ("https://Example.com", "https://example.com/"),
            ("https://example.com:443/a/./b/../c?d=..#e", "https://example.com/a/c?d=.."),
            ("http://example.com:8080/a/..", "http://example.com:8080/"),
            ("http://example.com/a/%2e%2e/b/.", "http://example.com/b/"),
            ("http://example.com/../../a", "http://example.com/a"),
            ("http://example.com/a\\b", "http://example.com/a%5Cb"),
            ("http://[2001:DB8::1]:81/", "http://[2001:db8::1]:81/"),
        ):
            self.assertEqual(straight(url), expected)
        for url in (
            "http://example.com/a/..%2fb",
            "http://example.com/a/..%5Cb",
            "http://example.com/a/%252e%252e/b",
            "http://example.com/a/..\\..\\b",
            "ftp://example.com/",
            "http://user:word@example.com/",
        ):
            with self.assertRaises(ValueError):
                straight(url)


if __name__ == "__main__":
    unittest.main()
