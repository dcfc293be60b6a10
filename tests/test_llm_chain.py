# tenner tests: the fallback chain, class by class, without waiting for anything.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import unittest

from llm_fakes import Candidate, Http, Request, Response
from support import run, temp_folder
from tenner.llm import client
from tenner.llm.chain import Chain
from tenner.llm.errors import LlmError

GOOD = b'{"choices":[{"message":{"content":"%s"},"finish_reason":"stop"}]}'


def good(text=b"ok"):
    return Response([GOOD.replace(b"%s", text)])


def bad(status, body=b"", retry_after=None):
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return Response([body] if body else [], status, headers)


class Config:
    def __init__(self, fallbacks=("second",), **values):
        self._values = {
            "llm.api": "chat",
            "llm.base_url": "https://first.example/v1",
            "llm.api_key": "first-key-123",
            "llm.model": "m1",
            "llm.max_tokens": 100,
            "llm.timeout_s": 60,
            "llm.fallbacks": [
                {
                    "name": name,
                    "base_url": "https://%s.example/v1" % name,
                    "api_key": "key-of-" + name,
                    "model": "m-" + name,
                }
                for name in fallbacks
            ],
        }
        for key in values:
            self._values["llm." + key] = values[key]

    def get(self, key):
        return self._values[key]


class Bench:
    """A chain with a clock and an owner that only remember, and a file of its own."""

    def __init__(self, case, *answers, **options):
        self.http = Http(*answers)
        self.made = 0
        self.notices = []
        self.slept = []
        self.time = 1800000000
        self.path = temp_folder(case) + "/cooldown.json"
        self.config = options.pop("config", None) or Config(**options)
        self.restart()

    def restart(self):
        self.chain = Chain(
            self.config,
            self._make,
            self.path,
            self.notices.append,
            self._sleep,
            lambda: self.time,
        )

    def stored(self):
        """The text of the file, or None."""
        try:
            with open(self.path) as file:
                return file.read()
        except OSError:
            return None

    def _make(self):
        self.made += 1
        return self.http

    async def _sleep(self, seconds):
        self.slept.append(seconds)

    def ask(self, *answers, **options):
        self.http.answers.extend(answers)
        before = len(self.http.sent)
        try:
            return run(self.chain.complete(Request(), **options)).text
        finally:
            self.hosts = [sent[0].split("/")[2].split(".")[0] for sent in self.http.sent[before:]]

    def fail(self, *answers, **options):
        try:
            self.ask(*answers, **options)
        except LlmError as error:
            return error
        raise AssertionError("it did not fail")


class Slow(Http):
    """A server that sends the pieces of `answers`, each `step_ms` after the last, by a clock that
    moves only then; None is silence."""

    def __init__(self, case, step_ms, answers):
        super().__init__()
        self.clock = self.heard_ms = 0
        self.step_ms = step_ms
        self.pieces = list(answers)
        self.task = self.error = None
        case.addCleanup(setattr, client, "ticks_ms", client.ticks_ms)
        client.ticks_ms = self.now
        self.status = 200

    def now(self):
        return self.clock

    def fail(self, error):
        self.error = error
        self.task.cancel()

    async def exchange(
        self, method, url, headers, body, consume, timeout_s, repeats=False, phases=None
    ):
        self.limit_s = timeout_s
        self.task = asyncio.create_task(consume(self))
        try:
            return await self.task
        except asyncio.CancelledError:
            raise self.error

    async def readinto(self, buf):
        # Long enough for the guard to look several times.
        await asyncio.sleep(0.02)
        self.clock += self.step_ms
        piece = self.pieces.pop(0)
        if piece is None:
            await asyncio.Event().wait()
        buf[: len(piece)] = piece
        return len(piece)


class TestSilence(unittest.TestCase):
    def complete(self, http):
        return run(client.complete(http, Candidate(), Request(), 0.1, 300))

    def test_a_slow_model_is_never_cut(self):
        for piece in (b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n', b": PROCESSING\n\n"):
            last = b'data: {"choices":[{"delta":{"content":"y"},"finish_reason":"stop"}]}\n\n'
            http = Slow(self, 60, [piece] * 20 + [last, b""])
            text = self.complete(http).text
            self.assertEqual(text, "x" * 20 + "y" if b"x" in piece else "y")
            self.assertEqual((http.clock, http.limit_s), (1320, 300))

    def test_silence_ends_the_exchange(self):
        http = Slow(self, 160, [b": PROCESSING\n\n", None])
        with self.assertRaises(LlmError) as caught:
            self.complete(http)
        self.assertEqual(caught.exception.kind, "timeout")
        self.assertTrue("did not answer within" in str(caught.exception))


class TestClasses(unittest.TestCase):
    def test_first_model_answers(self):
        bench = Bench(self, good())
        self.assertEqual(bench.ask(), "ok")
        self.assertEqual((bench.hosts, bench.stored(), bench.notices), (["first"], None, []))

    def test_a_wrong_key_asks_the_next_model(self):
        bench = Bench(self)
        self.assertEqual(bench.ask(bad(401), good()), "ok")
        self.assertEqual(bench.hosts, ["first", "second"])
        self.assertEqual(len(bench.notices), 1)
        self.assertTrue("m1" in bench.notices[0] and "401" in bench.notices[0])
        # It rests 1, 5, 25, 60 and 60 minutes, is not asked meanwhile, and the owner is not told
        # again.
        for minutes in (1, 5, 25, 60, 60):
            bench.time += minutes * 60 - 1
            bench.ask(good())
            self.assertEqual(bench.hosts, ["second"])
            bench.time += 1
            bench.ask(bad(403), good())
            self.assertEqual(bench.hosts, ["first", "second"])
        self.assertEqual(len(bench.notices), 1)
        # Once it answers, all is forgotten: the next failure is reported again, with a cooldown of
        # a minute.
        bench.time += 3600
        bench.ask(good())
        self.assertTrue(bench.stored() is None)
        bench.ask(bad(401), good())
        self.assertEqual(len(bench.notices), 2)
        bench.time += 60
        bench.ask(good())
        self.assertEqual(bench.hosts, ["first"])

    def test_a_spent_quota_is_a_longer_cooldown_each_time(self):
        bench = Bench(self)
        for hours in (5, 10, 24, 24):
            bench.ask(bad(429, b'{"error":{"code":"insufficient_quota"}}'), good())
            self.assertEqual(bench.hosts, ["first", "second"])
            bench.time += hours * 3600 - 1
            bench.ask(good())
            self.assertEqual(bench.hosts, ["second"])
            bench.time += 1
        self.assertEqual(len(bench.notices), 1)

    def test_short_rate_limit_is_waited_for_once(self):
        bench = Bench(self)
        self.assertEqual(bench.ask(bad(429, b"", "7"), good()), "ok")
        self.assertEqual((bench.hosts, bench.slept), (["first", "first"], [7]))
        bench.ask(bad(529, b"", "20"), bad(429, b"", "3"), good())
        self.assertEqual((bench.hosts, bench.slept), (["first", "first", "second"], [7, 20]))

    def test_a_delay_in_the_words_of_the_server_is_waited_for(self):
        bench = Bench(self)
        text = b'{"error":{"message":"Rate limit reached. Please try again in 2.5s."}}'
        self.assertEqual(bench.ask(bad(429, text), good()), "ok")
        self.assertEqual((bench.hosts, bench.slept), (["first", "first"], [2.5]))
        text = b'{"error":{"message":"Rate limit reached. Please try again in 21s."}}'
        self.assertEqual(bench.ask(bad(429, text), good()), "ok")
        self.assertEqual((bench.hosts, bench.slept), (["first", "second"], [2.5]))

    def test_an_overload_in_the_middle_of_a_reply_is_one_of_the_server(self):
        text = b'data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
        for api in ("messages", "chat"):
            bench = Bench(self, api=api)
            answer = b'data: {"type":"content_block_delta","delta":{"text":"ok"}}\n\n'
            answer += b'data: {"type":"message_stop"}\n\n'
            last = Response([answer]) if api == "messages" else good()
            self.assertEqual(bench.ask(Response([text + b"\n\n"]), last), "ok")
            self.assertEqual((bench.hosts, bench.slept), (["first", "first"], [2]))

    def test_a_reply_of_nothing_asks_the_next_model(self):
        empty = b'{"choices":[{"message":{"content":""},"finish_reason":"%s"}]}'
        for reason in (b"stop", b"content_filter"):
            bench = Bench(self)
            nothing = Response([empty.replace(b"%s", reason)])
            self.assertEqual(bench.ask(nothing, good()), "ok")
            self.assertEqual(bench.hosts, ["first", "second"])
            self.assertEqual((bench.stored(), bench.notices), (None, []))
            # The last model's word is the answer.
            replies = [Response([empty.replace(b"%s", reason)]) for _ in range(2)]
            self.assertEqual(bench.ask(*replies), "")
            error = bench.fail(Response([empty.replace(b"%s", reason)]), bad(401))
            self.assertTrue("gave no text" in str(error), error)
        bench = Bench(self, fallbacks=())
        self.assertEqual(bench.ask(Response([empty.replace(b"%s", b"stop")])), "")
        bench = Bench(self)
        self.assertEqual(bench.ask(Response([empty.replace(b"%s", b"length")])), "")

    def test_an_error_without_its_object_asks_again_and_then_the_next_model(self):
        bench = Bench(self)
        text = b'data: {"object":"error","message":"CUDA out of memory","code":500}\n\n'
        self.assertEqual(bench.ask(Response([text]), Response([text]), good()), "ok")
        self.assertEqual(bench.hosts, ["first", "first", "second"])

    def test_long_or_unknown_rate_limit_goes_on(self):
        bench = Bench(self)
        bench.ask(bad(429), good())
        self.assertEqual(bench.hosts, ["first", "second"])
        bench.ask(bad(503, b"overloaded", "21"), good())
        self.assertEqual(bench.hosts, ["first", "second"])
        self.assertEqual((bench.slept, bench.notices), ([], []))
        # The server said how long it wants to be left alone.
        bench.ask(good())
        self.assertEqual(bench.hosts, ["second"])
        bench.time += 21
        bench.ask(good())
        self.assertEqual(bench.hosts, ["first"])

    def test_timeout_is_tried_again_after_two_seconds(self):
        for failure in (bad(502), OSError(104), asyncio.TimeoutError(), EOFError("x")):
            bench = Bench(self)
            self.assertEqual(bench.ask(failure, good()), "ok")
            self.assertEqual((bench.hosts, bench.slept), (["first", "first"], [2]))
            bench.ask(failure if isinstance(failure, Exception) else bad(502), bad(500), good())
            self.assertEqual(bench.hosts, ["first", "first", "second"])
            self.assertEqual(bench.notices, [])

    def test_a_model_that_hangs_rests(self):
        for failure in (asyncio.TimeoutError(), OSError(110), EOFError("x"), bad(504)):
            bench = Bench(self)
            again = bad(504) if isinstance(failure, Response) else failure
            bench.ask(failure, again, good())
            self.assertEqual(bench.hosts, ["first", "first", "second"])
            bench.time += 59
            bench.ask(good())
            self.assertEqual(bench.hosts, ["second"])
            bench.time += 1
            bench.ask(good())
            self.assertEqual(bench.hosts, ["first"])
            self.assertEqual((bench.notices, bench.stored()), ([], None))

    def test_a_network_that_is_down_makes_no_model_rest(self):
        for failure in (OSError(113), OSError(101), OSError(-2), OSError(104)):
            bench = Bench(self)
            bench.ask(failure, failure, good())
            self.assertTrue(bench.stored() is None)

    def test_all_that_rest_are_asked_the_first_to_wake_first(self):
        bench = Bench(self)
        hang = asyncio.TimeoutError()
        bench.fail(hang, hang, hang, hang)
        self.assertEqual(bench.ask(hang, hang, good()), "ok")
        self.assertEqual(bench.hosts, ["first", "first", "second"])

    def test_an_overloaded_server_is_asked_once_more(self):
        for answer in (lambda: bad(529), lambda: bad(503, b"overloaded")):
            bench = Bench(self)
            self.assertEqual(bench.ask(answer(), good()), "ok")
            self.assertEqual((bench.hosts, bench.slept), (["first", "first"], [2]))
            bench.ask(answer(), answer(), good())
            self.assertEqual(bench.hosts, ["first", "first", "second"])

    def test_a_damaged_reply_is_tried_again(self):
        bench = Bench(self)
        damaged = Response([b'data: {"choices":[{"delta":{"cont]}\n\n'])
        self.assertEqual(bench.ask(damaged, good()), "ok")
        self.assertEqual((bench.hosts, bench.slept), (["first", "first"], [2]))

    def test_413_is_too_long_in_all_its_wordings(self):
        for status, body in (
            (413, b"<html><h1>413 Request Entity Too Large</h1><center>nginx</center></html>"),
            (413, b""),
            (
                413,
                (
                    b'{"error":{"message":"Request too large for model `m1`: tokens per minute '
                    b'(TPM)"}}'
                ),
            ),
            (
                429,
                b'{"error":{"message":"Request too large for m1: Limit 10000, Requested 15000."}}',
            ),
            (413, b'{"type":"error","error":{"type":"request_too_large","message":"x"}}'),
            (422, b"the prompt is too long"),
        ):
            error = Bench(self).fail(bad(status, body))
            self.assertEqual(error.kind, "context_overflow", body)
            self.assertFalse("check api" in str(error), error)

    def test_cut_off_reply_is_tried_again(self):
        bench = Bench(self)
        cut = Response([b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n', EOFError("cut")])
        self.assertEqual(bench.ask(cut, good()), "ok")
        self.assertEqual(bench.hosts, ["first", "first"])

    def test_tls_is_never_retried(self):
        bench = Bench(self)
        text = "\nThe certificate is not correctly signed by the trusted CA\n"
        bench.ask(ValueError(text), good())
        self.assertEqual((bench.hosts, bench.slept), (["first", "second"], []))
        self.assertEqual(len(bench.notices), 1)
        self.assertTrue("authority" in bench.notices[0])
        bench.ask(OSError(-30592, "MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE"), good())
        self.assertEqual(len(bench.notices), 1)

    def test_not_found(self):
        bench = Bench(self)
        bench.ask(bad(404, b'{"error":{"message":"The model `m1` does not exist"}}'), good())
        self.assertEqual((bench.hosts, len(bench.notices)), (["first", "second"], 1))
        bench.ask(bad(404), good())
        self.assertEqual(len(bench.notices), 1)

    def test_context_overflow_goes_to_the_caller(self):
        bench = Bench(self)
        error = bench.fail(bad(400, b'{"error":{"code":"context_length_exceeded"}}'))
        self.assertEqual((error.kind, bench.hosts), ("context_overflow", ["first"]))

    def test_a_request_that_was_too_long_says_what_fits(self):
        for words, tokens in (
            (b"This model's maximum context length is 4096 tokens. However, you sent 5123", 4096),
            (b"request (5005 tokens) exceeds the available context size (4096 tokens)", 4096),
            (b"prompt is too long: 210000 tokens > 200000 maximum", 200000),
            (b"token count (1,200,000) exceeds the maximum number of tokens (1048576)", 1048576),
            (b"40000 tokens: too large for model with 32768 maximum context length", 32768),
            (b"context_length_exceeded", 0),
        ):
            body = b'{"error":{"code":"context_length_exceeded","message":"%s"}}' % words
            bench = Bench(self)
            error = bench.fail(bad(400, body))
            sent = len(bench.http.sent[0][2])
            self.assertEqual(error.sent, ("m1 at https://first.example/v1", sent, tokens))

    def test_format_and_unknown_go_on_quietly(self):
        bench = Bench(self)
        for failure in (bad(400, b"bad schema"), bad(422), bad(418), Response([b"<html>"])):
            self.assertEqual(bench.ask(failure, good()), "ok")
            self.assertEqual(bench.hosts, ["first", "second"])
        self.assertEqual((bench.notices, bench.slept), ([], []))


def refused(words, status=400):
    return bad(status, b'{"error":{"message":"%s","type":"invalid_request_error"}}' % words)


_MAX_TOKENS = (
    b"Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    b"'max_completion_tokens' instead."
)


class TestForms(unittest.TestCase):
    def limits(self, bench):
        return [
            "max_tokens" if b'"max_tokens"' in sent[2] else "other" if b'"max_' in sent[2] else ""
            for sent in bench.http.sent
        ]

    def test_the_other_name_of_the_limit_is_remembered_over_a_restart(self):
        bench = Bench(self)
        self.assertEqual(bench.ask(refused(_MAX_TOKENS), good()), "ok")
        bench.restart()
        bench.ask(good())
        self.assertEqual(bench.hosts, ["first"])
        self.assertEqual(self.limits(bench), ["max_tokens", "other", "other"])
        self.assertEqual((bench.slept, bench.notices, bench.stored()), ([], [], None))

    def test_an_old_server_behind_an_address_of_openai_gets_the_old_name(self):
        bench = Bench(self, base_url="https://api.openai.com.example/v1")
        bench.ask(refused(b"Unrecognized request argument: max_completion_tokens"), good())
        self.assertEqual(self.limits(bench), ["other", "max_tokens"])

    def test_a_server_may_refuse_several_fields(self):
        bench = Bench(self)
        answers = [
            refused(b"Extra inputs are not permitted, field: '%s'" % name, status)
            for name, status in (
                (b"stream_options", 422),
                (b"max_tokens", 400),
                (b"max_completion_tokens", 400),
            )
        ]
        self.assertEqual(bench.ask(*(answers + [good()])), "ok")
        self.assertEqual(bench.hosts, ["first"] * 4)
        body = bench.http.sent[-1][2]
        self.assertFalse(b"max_" in body or b"stream_options" in body, body)

    def test_the_same_words_once_more_are_a_failure(self):
        bench = Bench(self)
        words = b"Unknown name: stream_options"
        self.assertEqual(bench.ask(refused(words), refused(words), good()), "ok")
        self.assertEqual(bench.hosts, ["first", "first", "second"])
        # It is not remembered, since nothing shows that it helps.
        bench.ask(good())
        self.assertTrue(b"stream_options" in bench.http.sent[-1][2])

    def test_a_limit_of_the_wrong_size_is_no_wrong_name(self):
        for words in (
            b"max_tokens is too large: 100. This model supports at most 64 completion tokens",
            b"max_tokens must be less than 64, instead of 100",
        ):
            bench = Bench(self)
            bench.ask(refused(words), good())
            self.assertEqual(bench.hosts, ["first", "second"])

    def test_each_model_has_a_form_of_its_own(self):
        bench = Bench(self)
        bench.ask(refused(_MAX_TOKENS), bad(418), good())
        self.assertEqual(self.limits(bench), ["max_tokens", "other", "max_tokens"])

    def test_the_file_is_bounded_and_may_be_damaged(self):
        bench = Bench(self)
        path = bench.path.rsplit("/", 1)[0] + "/quirks"
        for number in range(40):
            bench.config._values["llm.model"] = "m%d" % number
            bench.ask(refused(_MAX_TOKENS), good())
        with open(path) as file:
            text = file.read()
        self.assertTrue(len(text) <= 16 * 11, text)
        for damage in ("\xff", "x", text + "zz", "0" * 600, '"' * 99):
            with open(path, "w") as file:
                file.write(damage)
            bench.ask(good())
            bench.ask(refused(b"stream_options is not supported"), good())
            self.assertFalse(b"stream_options" in bench.http.sent[-1][2])


class TestChain(unittest.TestCase):
    def test_all_failed(self):
        bench = Bench(self, fallbacks=("second", "third"))
        error = bench.fail(bad(401), bad(404), bad(418))
        self.assertEqual(bench.hosts, ["first", "second", "third"])
        self.assertEqual(error.kind, "auth")
        text = str(error)
        for words in ("m1", "first.example", "401", "2 other models", "next message"):
            self.assertTrue(words in text, text)
        self.assertFalse("\n" in text or "key-123" in text)

    def test_no_retry_is_promised_that_cannot_succeed(self):
        for status, promised in ((401, False), (402, False), (404, False), (418, True)):
            error = Bench(self).fail(bad(status), bad(status), bad(status))
            self.assertEqual("next message" in str(error), promised, str(error))
            self.assertEqual(str(error)[-1], ".")

    def test_all_in_cooldown_the_first_available_is_asked(self):
        bench = Bench(self, fallbacks=("second", "third"))
        bench.fail(bad(402), bad(401), bad(402))
        bench.ask(good())
        self.assertEqual(bench.hosts, ["second"])

    def test_rests_and_notices_outlive_a_restart(self):
        bench = Bench(self)
        bench.ask(bad(401), good())
        bench.restart()
        bench.ask(good())
        self.assertEqual(bench.hosts, ["second"])
        bench.time += 60
        bench.ask(bad(401), good())
        self.assertEqual(len(bench.notices), 1)

    def test_a_clock_that_is_not_set_yet_does_not_make_anybody_rest(self):
        bench = Bench(self)
        bench.ask(bad(402), good())
        bench.time = 50
        bench.ask(good())
        self.assertEqual(bench.hosts, ["first"])

    def test_nothing_is_written_when_nothing_changes(self):
        bench = Bench(self)
        bench.ask(bad(401), good())
        with open(bench.path, "a") as file:
            file.write("\n")
        before = bench.stored()
        for _ in range(5):
            bench.ask(good())
        self.assertEqual(bench.stored(), before)

    def test_a_broken_file_is_quarantined(self):
        bench = Bench(self)
        bench.ask(bad(401), good())
        bench.restart()
        bench.ask(good())
        self.assertEqual(bench.hosts, ["second"])
        with open(bench.path, "w") as file:
            file.write('{"main": [')
        bench.restart()
        bench.ask(good())
        self.assertEqual(bench.hosts, ["first"])

    def test_the_model_asked_for_comes_first(self):
        bench = Bench(self, fallbacks=("second", "third"))
        bench.ask(bad(418), good(), model="third")
        self.assertEqual(bench.hosts, ["third", "first"])
        bench.ask(good(), model="m-second")
        self.assertEqual(bench.hosts, ["second"])
        bench.ask(good(), model="another")
        self.assertTrue(b'"model":"another"' in bench.http.sent[-1][2])
        self.assertEqual(bench.hosts, ["first"])

    def test_keys_stay_with_their_addresses(self):
        config = Config()
        config._values["llm.fallbacks"] = [
            {"name": "a", "base_url": "https://a.example", "model": "x"},
            {"name": "b", "model": "y"},
        ]
        found = Bench(self, config=config).chain.candidates()
        self.assertEqual([c.api_key for c in found], ["first-key-123", "", "first-key-123"])

    def test_time_for_everything_together(self):
        bench = Bench(self, good())
        error = bench.fail(timeout_ms=0)
        self.assertEqual((error.kind, bench.hosts), ("timeout", []))

    def test_cancelling_is_passed_on(self):
        bench = Bench(self, asyncio.CancelledError())
        with self.assertRaises(asyncio.CancelledError):
            bench.ask()

    def test_connection_is_kept_for_the_next_round(self):
        bench = Bench(self, good(), good())
        bench.ask()
        bench.ask()
        self.assertEqual((bench.made, bench.http.closed), (1, 0))
        run(bench.chain.close())
        self.assertEqual(bench.http.closed, 1)

    def test_two_at_a_time_do_not_share_one(self):
        bench = Bench(self, good(b"1"), good(b"2"))

        async def main():
            return await asyncio.gather(
                bench.chain.complete(Request()), bench.chain.complete(Request())
            )

        replies = run(main())
        self.assertEqual(sorted([reply.text for reply in replies]), ["1", "2"])
        self.assertEqual((bench.made, bench.http.closed), (2, 1))


if __name__ == "__main__":
    unittest.main()
