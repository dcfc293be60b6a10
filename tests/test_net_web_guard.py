# tenner tests: no URL a model thinks up reaches the inside of the owner's network.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import socket
import unittest

from fakes import FakeAgent, FakeCtx
from net_peer import Peer, reply
from support import run, temp_folder
from tenner.net.http import Http
from tenner.net.web import guard

# All of them are the spy's own address, for one resolver or another.
INSIDE = (
    "http://127.0.0.1:%d/",
    "http://127.0.0.1.:%d/",
    "http://127.1:%d/",
    "http://127.0.1:%d/",
    "http://2130706433:%d/",
    "http://0x7f000001:%d/",
    "http://0x7F.1:%d/",
    "http://0177.0.0.1:%d/",
    "http://017700000001:%d/",
    "http://0:%d/",
    "http://0.0.0.0:%d/",
    "http://127.000.000.001:%d/",
    "http://localhost:%d/",
    "http://LOCALHOST:%d/",
    "http://localhost.:%d/",
    "http://a.localhost:%d/",
    "http://[::1]:%d/",
    "http://[::]:%d/",
    "http://[0:0:0:0:0:0:0:1]:%d/",
    "http://[::ffff:127.0.0.1]:%d/",
    "http://[::ffff:7f00:1]:%d/",
    "http://[::127.0.0.1]:%d/",
    "http://[64:ff9b::127.0.0.1]:%d/",
    "http://[::1%%25lo]:%d/",
    "http://127.0.0.1%%2f:%d/",
    "http://user@127.0.0.1:%d/",
    "http://user:pass@127.0.0.1:%d/",
    "http://example.com@127.0.0.1:%d/",
    "http://127.0.0.1:%d@example.com/",
    "http://example.com\\@127.0.0.1:%d/",
    "http://127.0.0.1:%d\\@example.com/",
    "http://127.0.0.1:80:%d/",
    "http:127.0.0.1:%d/",
    "http:///127.0.0.1:%d/",
    "//127.0.0.1:%d/",
    "ftp://127.0.0.1:%d/",
    "gopher://127.0.0.1:%d/_GET%%20/",
    "http://127.0.0.1:%d/\r\nHost: example.com",
    "http://127.0.0.1\t:%d/",
    "http://127\u30020.0.1:%d/",
    "http://inside.example:%d/",
    "http://both.example:%d/",
    "http://mapped.example:%d/",
    "http://nowhere.example:%d/",
)

NAMES = {
    "inside.example": ("127.0.0.1",),
    "both.example": ("93.184.215.14", "127.0.0.1"),
    "mapped.example": ("::ffff:127.0.0.1",),
    "nowhere.example": (),
}


class Resolver:
    """In place of the socket module: names of the test, everything else as the system has it."""

    SOCK_STREAM = socket.SOCK_STREAM

    def __init__(self, names):
        self.names = names
        self.asked = []

    def getaddrinfo(self, host, port, family, kind):
        self.asked.append(host)
        if host in self.names:
            return [(0, 0, 0, "", (address, port)) for address in self.names[host]]
        return socket.getaddrinfo(host, port, family, kind)

    def sockaddr(self, address):
        return socket.sockaddr(address)

    def inet_ntop(self, family, address):
        return socket.inet_ntop(family, address)


class Spy(Peer):
    """Counts who connects; listens on IPv6 too, where the interpreter and the system have it."""

    _six = None

    async def start(self):
        await super().start()
        if hasattr(asyncio, "to_thread"):
            try:
                self._six = await asyncio.start_server(self._serve, "::1", self.port)
            except OSError:
                pass  # the system has none
        return self

    async def stop(self):
        if self._six:
            self._six.close()
        await super().stop()


class TestGuard(unittest.TestCase):
    def fetch(self, urls, names=None, allow=(), checked=True, times=1):
        """Ask for each URL with the spy's port in it; return (outcomes, spy, resolver)."""
        resolver = Resolver(names or {})

        async def consume(http):
            return await http.read_text(100)

        async def main():
            spy = await Spy(*[reply(b"secret")] * times).start()
            outcomes = []
            for url in urls:
                http = Http()
                http.resolve = lambda host, port: guard.resolve(host, port, allow)
                url = url % spy.port if "%d" in url else url
                try:
                    if checked:
                        guard.check(url, allow)
                    for _ in range(times):
                        outcomes.append(await http.exchange("GET", url, [], None, consume, 5))
                except (OSError, ValueError) as error:
                    outcomes.append(error)
                await http.close()
            await spy.stop()
            return outcomes, spy, resolver

        real, guard.socket = guard.socket, resolver
        try:
            return run(main())
        finally:
            guard.socket = real

    def test_nothing_inside_is_connected_to(self):
        self.assertTrue(len(INSIDE) >= 40)
        outcomes, spy, _ = self.fetch(INSIDE, NAMES)
        for url, outcome in zip(INSIDE, outcomes):
            self.assertTrue(isinstance(outcome, Exception), (url, outcome))
        self.assertEqual((spy.connections, spy.requests), (0, []))

    def test_the_check_at_the_connection_is_enough_by_itself(self):
        outcomes, spy, _ = self.fetch(INSIDE, NAMES, checked=False)
        self.assertEqual((spy.connections, spy.requests), (0, []))
        self.assertEqual([outcome for outcome in outcomes if outcome == "secret"], [])

    def test_no_redirect_leads_inside(self):
        real, guard.socket = guard.socket, Resolver(NAMES)
        self.addCleanup(setattr, guard, "socket", real)
        ctx = FakeCtx(temp_folder(self), {"tools.web_fetch": "allow"})
        ctx.agent = FakeAgent()
        # No header can hold the others, a listed host takes their place.
        targets = [url for url in INSIDE if max(url) < "\x7f" and min(url) > " "]
        targets += ["//localhost:%d/", "//2130706433:%d/", "file://127.0.0.1:%d/", "data:,%d"]

        async def main():
            spy = await Spy().start()
            moved = [b"Location: %s\r\n" % (url % spy.port).encode() for url in targets]
            page = await Peer(*[reply(b"", b"302 Found", line) for line in moved]).start()
            ctx.config.put("web.allow", ["127.0.0.1:%d" % page.port])
            for url in targets:
                text = await ctx.call("web_fetch", {"url": page.url + "/"})
                self.assertTrue(text.startswith("error: "), (url, text))
                self.assertEqual(spy.connections, 0, url)
            await page.stop()
            await spy.stop()
            return len(page.requests)

        self.assertEqual(run(main()), len(targets))
        self.assertTrue(len(targets) >= 40)

    def test_what_the_owner_lists_is_reached(self):
        for url, allow in (
            ("http://127.0.0.1:%d/", "127.0.0.1"),
            ("http://inside.example:%d/", "inside.example"),
            ("http://INSIDE.example.:%d/", "Inside.Example"),
            ("http://inside.example:%d/", "127.0.0.1"),
            ("http://mapped.example:%d/", "127.0.0.1"),
            ("http://localhost:%d/", "localhost"),
        ):
            names = dict(NAMES)
            names["inside.example."] = ("127.0.0.1",)
            outcomes, spy, _ = self.fetch((url,), names, (allow,))
            self.assertEqual(outcomes, ["secret"], (url, allow))
            self.assertEqual(spy.connections, 1)

    def test_what_the_owner_lists_is_no_more_than_that(self):
        for allow in (
            "127.0.0.2",
            "127.0.0.1:81",
            "nside.example",
            "inside",
            "inside.example:1",
            "[::1]",
            "",
            "*",
        ):
            outcomes, spy, _ = self.fetch(
                ("http://127.0.0.1:%d/", "http://inside.example:%d/"), NAMES, (allow,)
            )
            self.assertEqual(spy.connections, 0, (allow, outcomes))

    def test_a_listed_port_may_be_a_low_one(self):
        guard.check("http://example.com:22/", ["example.com:22"])
        guard.check("http://[fd00::1]:22/", ["[fd00::1]:22"])
        for allow in ("example.com:23", "example.co:22"):
            with self.assertRaises(OSError):
                guard.check("http://example.com:22/", [allow])

    def test_the_address_that_was_checked_is_the_one_that_is_used(self):
        # The system does not know this name: a second look-up would fail.
        names = {"twice.example": ("127.0.0.1",)}
        outcomes, spy, resolver = self.fetch(
            ("http://twice.example:%d/",), names, ("127.0.0.1",), times=2
        )
        self.assertEqual(outcomes, ["secret", "secret"])
        self.assertEqual(resolver.asked, ["twice.example"])
        self.assertIn(b"Host: twice.example:%d" % spy.port, spy.requests[0][0])

    def test_a_new_connection_is_a_new_check(self):
        addresses = [("127.0.0.1",), ("127.0.0.2",)]

        class Rebinding(Resolver):
            def getaddrinfo(self, host, port, family, kind):
                return [(0, 0, 0, "", (addresses.pop(0)[0], port))]

        real, guard.socket = guard.socket, Rebinding({})
        try:
            address = run(guard.resolve("twice.example", 80, ("127.0.0.1",)))
            self.assertEqual(address, "127.0.0.1")
            with self.assertRaises(OSError):
                run(guard.resolve("twice.example", 80, ("127.0.0.1",)))
        finally:
            guard.socket = real

    def test_a_name_nobody_knows_is_a_sentence(self):
        class Deaf(Resolver):
            def getaddrinfo(self, host, port, family, kind):
                raise OSError(-202)  # as an ESP32 says it

        real, guard.socket = guard.socket, Deaf({})
        self.addCleanup(setattr, guard, "socket", real)
        try:
            run(guard.resolve("nobody.example", 80))
            self.fail("resolved")
        except OSError as error:
            self.assertEqual(
                str(error),
                "nobody.example is not known: no such host, or the network has no DNS",
            )

    def test_refusals_are_sentences(self):
        for url, words in (
            ("http://10.0.0.1/", "10.0.0.1 is inside the owner's network"),
            ("http://127.1/", "127.1 is no proper name"),
            ("http://example.com:22/", "port 22"),
            ("ftp://example.com/", "no http or https address"),
        ):
            try:
                guard.check(url)
                self.fail(url)
            except OSError as error:
                self.assertIn(words, str(error))


if __name__ == "__main__":
    unittest.main()
