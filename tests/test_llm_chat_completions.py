# tenner tests: the chat completions format: requests and replies.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import unittest

from llm_fakes import DIALOG_KINDS, HISTORY, Blocks, Candidate, Http, Request, Response, complete
from support import run, temp_folder
from tenner.llm import chat_completions as wire
from tenner.llm.errors import LlmError
from tenner.store import files


def sent(request, **candidate):
    return b"".join(wire.body(Candidate(**candidate), request))


def events(*chunks):
    return b"".join([b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks])


def delta(**fields):
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def stop(reason):
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def part(index=None, id=None, name=None, arguments=None):
    """Return a fragment of a tool call without the fields that are None."""
    result = {"function": {}}
    if index is not None:
        result["index"] = index
    if id is not None:
        result["id"] = id
    if name is not None:
        result["function"]["name"] = name
    if arguments is not None:
        result["function"]["arguments"] = arguments
    return delta(tool_calls=[result])


DONE = b"data: [DONE]\n\n"


def receive(*pieces, **options):
    """The Reply to a request, when the body arrives in these pieces."""
    http = Http(Response([piece for piece in pieces if piece != b""], **options))
    return run(complete(http, Candidate(), Request(), 5))


def calls(reply):
    return [(call.id, call.name, call.arguments_text) for call in reply.calls]


class TestBody(unittest.TestCase):
    def test_the_target_has_address_and_headers(self):
        url, headers = wire.target(Candidate())
        self.assertEqual(url, "https://llm.example/v1/chat/completions")
        self.assertTrue(("Authorization", "Bearer sk-secret-0123456789") in headers)
        self.assertEqual(len(wire.target(Candidate(api_key=""))[1]), 1)

    def test_order_of_keys(self):
        body = sent(Request(tools=()))
        self.assertEqual(
            body,
            b'{"model":"some-model","stream":true,"stream_options":{"include_usage":true},'
            b'"max_tokens":500,"messages":[{"role":"system","content":"Be brief."},'
            b'{"role":"user","content":"hi"}]}',
        )

    def test_limit_of_tokens(self):
        self.assertEqual(json.loads(sent(Request(max_tokens=100)))["max_tokens"], 100)
        self.assertEqual(json.loads(sent(Request(max_tokens=900)))["max_tokens"], 500)
        self.assertFalse(b"max_" in sent(Request(), max_tokens=0))
        body = json.loads(sent(Request(), base_url="https://api.openai.com/v1"))
        self.assertEqual(body["max_completion_tokens"], 500)
        self.assertFalse("max_tokens" in body)

    def test_lines_that_come_several_at_once_are_what_they_are_one_by_one(self):
        plain = [
            b'["%s","%s"]\n' % (kind, text)
            for kind, text in zip(
                DIALOG_KINDS,
                (b"a", b'b \\" c', b"\\\\", b"", b"\\n", b"\xc3\xa9", b'\\",\\"', b"x", b"\\u0041")
                * 9,
            )
        ]
        call = [b'["c","1","f",{"a":["u","x"]}]\n', b'["t","1","r"]\n']
        lines = list(HISTORY) + plain + call + plain[::-1] + [b'["n","note"]\n'] + plain
        whole = sent(Blocks(lines, 1))
        for count in (2, 3, 5, 8):
            for start in range(count):
                self.assertEqual(sent(Blocks(lines, count, start)), whole)
        self.assertEqual(sent(Request(lines, size=7)), whole)
        json.loads(whole)

    def test_history_in_pieces_of_any_size(self):
        whole = sent(Request(HISTORY))
        for size in range(1, 120):
            self.assertEqual(sent(Request(HISTORY, size=size)), whole)
        messages = json.loads(whole)["messages"]
        self.assertEqual(
            [message["role"] for message in messages],
            ["system", "user", "assistant", "tool", "tool", "user", "assistant", "user"],
        )
        self.assertEqual(messages[1]["content"], 'They like "tea".\n\nHow warm\nis it? 😀')
        first, second = messages[2]["tool_calls"]
        self.assertEqual(messages[2]["content"], "")
        self.assertEqual((first["id"], first["type"]), ("call_1", "function"))
        self.assertEqual(first["function"]["name"], "read_sensor")
        arguments = HISTORY[3][len(b'["c","call_1","read_sensor",') : -2]
        self.assertEqual(first["function"]["arguments"], arguments.decode())
        self.assertEqual(second["id"], 'call,"2"')
        self.assertEqual(second["function"]["arguments"], "{}")
        self.assertEqual(messages[3]["tool_call_id"], "call_1")
        self.assertTrue(messages[3]["content"].startswith("21.4 °C"))
        self.assertEqual((messages[4]["tool_call_id"], messages[4]["content"]), ('call,"2"', ""))
        self.assertEqual(messages[5]["content"], "Keep it short.")
        self.assertEqual(messages[6]["content"], "It is A 21.4.")

    def test_calls_without_text_before_them(self):
        lines = (
            b'["u","x"]\n',
            b'["c","1","f",{}]\n',
            b'["t","1","ok"]\n',
            b'["c","2","g",{"a":1}]\n',
        )
        messages = json.loads(sent(Request(lines)))["messages"]
        self.assertEqual(
            [m["role"] for m in messages[1:]], ["user", "assistant", "tool", "assistant"]
        )
        self.assertEqual(messages[4]["tool_calls"][0]["function"]["arguments"], '{"a":1}')

    def test_system_prompt_may_hold_anything(self):
        system = b'a "b" \\ \n\t\x01 \xf0\x9f\x98\x80 \xff end\xc3'
        for size in range(1, len(system) + 1):
            body = json.loads(sent(Request(system=system, size=size)))
            self.assertEqual(
                body["messages"][0]["content"], 'a "b" \\ \n\t\x01 😀 \ufffd end\ufffd'
            )

    def test_tools_are_sent_as_they_stand_in_their_files(self):
        folder = temp_folder(self)
        schemas = []
        paths = []
        for name in ("a", "b"):
            schema = {"name": name, "description": "d" * 700, "parameters": {"type": "object"}}
            paths.append("%s/%s.json" % (folder, name))
            with open(paths[-1], "w") as file:
                file.write(json.dumps(schema) + "\n")
            schemas.append({"type": "function", "function": schema})
        self.assertEqual(
            json.loads(sent(Request(tools=[(path, 0, files.size(path)) for path in paths])))[
                "tools"
            ],
            schemas,
        )


FULL = (
    b": OPENROUTER PROCESSING\n\n"
    + events(
        delta(role="assistant", content=""),
        delta(content="It is ", reasoning="hidden", reasoning_content="hidden"),
        delta(content="21 °C 😀"),
        part(0, "call_a", "read", ""),
        part(0, None, None, '{"na'),
        part(0, None, None, 'me":"x"}'),
        part(1, "call_b", "list", "{}"),
        stop("tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 30}},
    )
    + DONE
)


class TestReply(unittest.TestCase):
    def check_full(self, reply):
        self.assertEqual(reply.text, "It is 21 °C 😀")
        self.assertEqual(
            calls(reply), [("call_a", "read", '{"name":"x"}'), ("call_b", "list", "{}")]
        )
        self.assertEqual(reply.stop, "tools")
        self.assertEqual((reply.tokens_in, reply.tokens_out), (120, 30))
        self.assertFalse(reply.estimated)

    def test_text_and_calls_cut_at_every_byte(self):
        for data in (FULL, FULL.replace(b"\n", b"\r\n")):
            for place in range(len(data)):
                self.check_full(receive(data[:place], data[place:]))

    def test_byte_by_byte(self):
        self.check_full(receive(*[FULL[i : i + 1] for i in range(len(FULL))]))

    def test_body_bytes_and_estimate(self):
        reply = receive(events(delta(content="12345678"), stop("stop")) + DONE)
        self.assertTrue(reply.estimated)
        self.assertEqual(reply.body_bytes, len(sent(Request())))
        self.assertEqual(reply.tokens_in, (reply.body_bytes + 3) // 4)
        self.assertEqual(reply.tokens_out, 2)

    def test_surrogates_split_over_escapes_and_cuts(self):
        data = b'data: {"choices":[{"delta":{"content":"a\\ud83d\\ude00b"},"finish_reason":"stop"}]}\n\n'  # noqa: E501
        for place in range(len(data)):
            self.assertEqual(receive(data[:place], data[place:]).text, "a😀b")

    def test_surrogates_split_over_two_events(self):
        def text(*pieces):
            event = b'data: {"id":"x","choices":[{"delta":{"content":"%s"}}]}\n\n'
            return receive(b"".join([event % piece for piece in pieces]) + DONE).text

        for pieces, expected in (
            ((b"a\\ud83d", b"\\ude00b"), "a😀b"),
            ((b"a", b"b", b"\\uD83D", b"\\uDE00\\ud83d", b"\\ude01", b"c"), "ab😀😁c"),
            # Half a pair without the other must not poison the history.
            ((b"a\\ud83d", b"b"), "ab"),
            ((b"a", b"\\ude00b"), "a\ufffdb"),
            ((b"\\ud83d\\ud83d", b"\\ude00"), "\ufffd😀"),
            ((b"a\\\\ud83d", b"\\ude00"), "a\\ud83d\ufffd"),
        ):
            self.assertEqual(text(*pieces), expected)
            self.assertEqual(text(*pieces).encode().decode(), expected)

    def test_done_is_missing(self):
        self.assertEqual(receive(events(delta(content="x"), stop("stop"))).text, "x")

    def test_only_done(self):
        self.assertEqual(receive(events(delta(content="x")) + DONE).stop, "stop")

    def test_what_follows_done_is_not_read(self):
        self.assertEqual(receive(events(delta(content="x")) + DONE, OSError(104)).text, "x")

    def test_reasons_to_stop(self):
        for reason, expected in (
            ("stop", "stop"),
            ("length", "length"),
            ("content_filter", "refusal"),
            ("tool_calls", "stop"),
            ("eos", "stop"),
        ):
            self.assertEqual(receive(events(delta(content="x"), stop(reason))).stop, expected)

    def test_stop_with_calls_means_tools(self):
        self.assertEqual(receive(events(part(0, "1", "f", "{}"), stop("stop"))).stop, "tools")

    def test_a_refusal_is_the_reply(self):
        reply = receive(events(delta(refusal="I will not."), delta(refusal=None), stop("stop")))
        self.assertEqual((reply.text, reply.stop), ("I will not.", "refusal"))

    def test_thinking_is_dropped_wherever_it_is_cut(self):
        for text, expected in (
            ("<think>secret</think>\n\nHello", "Hello"),
            ("Hi <think>secret</think>there", "Hi there"),
            ("<think>a</think><think>b</think>c", "c"),
            ("<think>never closed", ""),
            ("the tag was swallowed</think>Hello", "Hello"),
            ("a < b <thin> </thinking <", "a < b <thin> </thinking <"),
            ("<think><</think></think>x", "x"),
        ):
            for place in range(len(text) + 1):
                for second in range(place, len(text) + 1, 3):
                    chunks = [
                        delta(content=piece)
                        for piece in (text[:place], text[place:second], text[second:])
                    ]
                    self.assertEqual(receive(events(*chunks) + DONE).text, expected)

    def test_content_in_parts(self):
        data = events(
            delta(content=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])
        )
        self.assertEqual(receive(data + DONE).text, "ab")

    def test_other_choices_are_ignored(self):
        other = {"choices": [{"index": 0, "delta": {"content": "x"}}, {"delta": {"content": "y"}}]}
        self.assertEqual(receive(events(other) + DONE).text, "x")


class TestCalls(unittest.TestCase):
    def names(self, *chunks):
        return calls(receive(events(*chunks) + DONE))

    def test_no_arguments_at_all(self):
        self.assertEqual(self.names(part(0, "1", "f")), [("1", "f", "{}")])
        self.assertEqual(self.names(part(0, "1", "f", " ")), [("1", "f", "{}")])

    def test_calls_may_be_interleaved(self):
        found = self.names(
            part(0, "a", "f", "{"),
            part(1, "b", "g", "["),
            part(0, None, None, "}"),
            part(1, None, None, "]"),
        )
        self.assertEqual(found, [("a", "f", "{}"), ("b", "g", "[]")])

    def test_id_and_name_repeated(self):
        found = self.names(part(0, "a", "f", "{"), part(0, "a", "f", "}"), part(0, "", "", ""))
        self.assertEqual(found, [("a", "f", "{}")])

    def test_every_call_with_index_zero(self):
        found = self.names(part(0, "a", "f", "{}"), part(0, "b", "f", '{"x":1}'))
        self.assertEqual(found, [("a", "f", "{}"), ("b", "f", '{"x":1}')])

    def test_without_index(self):
        found = self.names(
            part(None, "a", "f", "{"), part(None, None, None, "}"), part(None, "b", "g", "{}")
        )
        self.assertEqual(found, [("a", "f", "{}"), ("b", "g", "{}")])

    def test_without_index_and_id(self):
        found = self.names(part(None, None, "f", "{}"), part(None, None, "g", "{}"))
        self.assertEqual([call[1:] for call in found], [("f", "{}"), ("g", "{}")])
        self.assertTrue(found[0][0] and found[0][0] != found[1][0])

    def test_index_after_the_arguments(self):
        data = (
            b'data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{","name":"f"},"id":"a",'  # noqa: E501
            b'"index":0},{"function":{"arguments":"[","name":"g"},"id":"b","index":1}]}}]}\n\n'
            b'data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"]"},"index":1},'
            b'{"function":{"arguments":"}"},"index":0}]}}]}\n\n'
        )
        self.assertEqual(calls(receive(data + DONE)), [("a", "f", "{}"), ("b", "g", "[]")])

    def test_ids_are_made_unique_and_short(self):
        found = self.names(
            part(0, "x" * 65, "f"), part(1, "", "g"), part(2, "a", "h"), part(3, "a", "i")
        )
        ids = [call[0] for call in found]
        self.assertEqual([call[1] for call in found], ["f", "g", "h", "i"])
        self.assertEqual(len(set(ids)), 4)
        self.assertTrue(max([len(id) for id in ids]) <= 128)

    def test_arguments_as_an_object(self):
        arguments = {"a": [1, {"b": 'x"y\n' + "z" * 400}, None], "c": True, "é": -2.5}
        found = self.names(
            delta(tool_calls=[{"id": "1", "function": {"name": "f", "arguments": arguments}}])
        )
        self.assertEqual(json.loads(found[0][2]), arguments)

    def test_malformed_arguments_are_passed_on(self):
        self.assertEqual(self.names(part(0, "1", "f", '{"a":'))[0][2], '{"a":')


class TestPlain(unittest.TestCase):
    def test_plain_reply_cut_at_every_byte(self):
        message = {
            "role": "assistant",
            "content": "Hi 😀",
            "refusal": None,
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "2", "type": "function", "function": {"name": "g", "arguments": '{"a":1}'}},
            ],
        }
        data = json.dumps(
            {
                "id": "x",
                "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
                "usage": {
                    "prompt_tokens": 3,
                    "completion_tokens": 4,
                    "details": {"prompt_tokens": 9},
                },
            }
        ).encode()
        for place in range(len(data)):
            reply = receive(b"\r\n" + data[:place], data[place:])
            self.assertEqual((reply.text, reply.stop), ("Hi 😀", "tools"))
            self.assertEqual(calls(reply), [("1", "f", "{}"), ("2", "g", '{"a":1}')])
            self.assertEqual((reply.tokens_in, reply.tokens_out), (3, 4))


class TestFailure(unittest.TestCase):
    def failure(self, *pieces, **options):
        try:
            receive(*pieces, **options)
        except LlmError as error:
            return error
        self.fail("no error")

    def test_error_in_the_middle(self):
        for chunk, kind in (
            ({"error": {"message": "Provider is overloaded", "type": "x"}}, "rate_limit"),
            ({"error": {"message": "Internal server_error", "code": 502}}, "timeout"),
            ({"error": {"message": "no quota", "code": "insufficient_quota"}}, "billing"),
            ({"error": "something odd"}, "unknown"),
        ):
            data = events(delta(content="x"), chunk, stop("error"))
            for place in range(0, len(data), 7):
                error = self.failure(data[:place], data[place:])
                self.assertEqual(error.kind, kind)
            self.assertTrue(("odd" in str(error)) == (kind == "unknown"))

    def test_error_as_the_whole_reply(self):
        self.assertTrue("mine" in str(self.failure(b'{"error":{"message":"mine"}}')))

    def test_cut_off(self):
        for pieces in (
            [events(delta(content="x"))],
            [events(delta(content="x")), EOFError()],
            [events(delta(content="x")), OSError(104)],
            [b'{"choices":[{"message":{"content":"x"', EOFError()],
            [],
        ):
            self.assertEqual(self.failure(*pieces).kind, "timeout")

    def test_garbage_is_a_failure(self):
        for data in (
            b"<html><body>Log in to the Wi-Fi</body></html>",
            b"hello",
            b'{"something":"else"}',
            b"\xff\x00\x01",
        ):
            self.assertEqual(self.failure(data).kind, "unknown")

    def test_a_damaged_event_may_be_whole_the_next_time(self):
        for data in (b"data: not json\n\n", b'data: {"choices":[{]}\n\n', b'{"choices":['):
            error = self.failure(data)
            self.assertEqual(error.kind, "timeout")
            self.assertTrue("sent a damaged reply" in str(error), error)

    def test_ten_megabytes(self):
        text = events(delta(content="x" * 500))
        arguments = events(part(0, "1", "f", "x" * 500))
        http = Http(Response((b":" + b"z" * 500 for _ in range(20000))))
        with self.assertRaises(LlmError) as caught:
            run(complete(http, Candidate(), Request(), 5))
        self.assertEqual(caught.exception.kind, "unknown")
        self.assertTrue("8388608" in str(caught.exception))
        # A text is cut off, and nothing more of it is read.
        read = []
        http = Http(Response((text for _ in range(20000) if not read.append(1))))
        reply = run(complete(http, Candidate(), Request(), 5))
        self.assertEqual(len(reply.text), 16384)
        self.assertTrue(reply.text.endswith("x\n(cut off: the reply has over 16384 bytes)"))
        self.assertTrue(len(read) < 50, len(read))
        # A board with little memory takes less.
        request = Request()
        request.max_reply = 1000
        short = Response([text, events(delta(content="y" * 480)), DONE])
        self.assertEqual(len(run(complete(Http(short), Candidate(), request, 5)).text), 980)
        reply = run(complete(Http(Response([text] * 3)), Candidate(), request, 5))
        self.assertTrue("cut off" in reply.text and len(reply.text) == 1000, reply.text)
        # Arguments that are too long are not kept; the model hears so.
        http = Http(
            Response([arguments] * 3 + [events(part(1, "2", "g", "{}"), stop("tool_calls"))])
        )
        reply = run(complete(http, Candidate(), request, 5))
        self.assertEqual(calls(reply), [("1", "f", None), ("2", "g", "{}")])

    def test_a_long_text_goes_by_way_of_flash(self):
        request = Request()
        request.max_reply = 1000
        request.keep_at = temp_folder(self) + "/reply.part"
        for words in (["word %d " % n for n in range(900)], ["\u6e29\u5ea6"] * 900):
            chunks = [delta(content=word) for word in words]
            pieces = [events(*chunks), events(stop("stop")), DONE]
            reply = run(complete(Http(Response(pieces)), Candidate(), request, 5))
            with open(request.keep_at, "rb") as file:
                kept = file.read()
            self.assertEqual(len(kept), reply.kept)
            self.assertEqual(kept.decode() + reply.text, "".join(words))
            self.assertTrue(0 < len(reply.text.encode()) <= 1000)

    def test_a_word_is_never_torn_and_what_is_kept_has_bounds(self):
        request = Request()
        request.max_reply = 1000
        request.keep_at = temp_folder(self) + "/reply.part"
        chunks = [delta(content="x" * 9000)] * 2
        pieces = [events(*chunks), events(stop("stop")), DONE]
        reply = run(complete(Http(Response(pieces)), Candidate(), request, 5))
        self.assertEqual((reply.kept, len(reply.text)), (0, 1000))
        chunks = [delta(content="x" * 99 + " ")] * 1000
        pieces = [events(*chunks), events(stop("stop")), DONE]
        reply = run(complete(Http(Response(pieces)), Candidate(), request, 5))
        self.assertTrue(24576 <= reply.kept < 26000 and len(reply.text) == 1000)
        self.assertTrue("cut off" in reply.text)

    def test_calls_over_the_most_are_named_only(self):
        many = [part(i, str(i), "f%d" % i, '{"a":') for i in range(70)]
        more = [part(i, None, None, "%d}" % i) for i in range(70)]
        reply = receive(events(*(many + more)), events(stop("tool_calls")), DONE)
        found = calls(reply)
        self.assertEqual(len(found), 64)
        self.assertEqual(found[15], ("15", "f15", '{"a":15}'))
        self.assertEqual(found[16:18], [("16", "f16", None), ("17", "f17", None)])

    def test_a_status_gives_the_kind_of_failure(self):
        body = b'{"error":{"message":"Incorrect API key provided: sk-secret-0123456789."}}'
        error = self.failure(body, status=401)
        self.assertEqual((error.kind, error.status), ("auth", 401))
        self.assertTrue("Incorrect API key provided: ***" in str(error))
        self.assertTrue("some-model" in str(error) and "llm.example" in str(error))
        error = self.failure(b"", status=429, headers={"retry-after": "7"})
        self.assertEqual((error.kind, error.retry_after_s), ("rate_limit", 7))
        for value in ("Wed, 21 Oct 2026 07:28:00 GMT", "", "nan", "-5", "inf"):
            error = self.failure(b"", status=429, headers={"retry-after": value})
            self.assertFalse(error.retry_after_s)

    def test_error_bodies_of_all_kinds(self):
        for body, words in (
            (b'{"error":{"message":"mine","type":"t"}}', "mine"),
            (b'{"error":"mine"}', "mine"),
            (b'{"message":"mine"}', "mine"),
            (b'{"detail":[{"msg":"mine"}]}', "mine"),
            (b'[{"error":{"message":"mine"}}]', "mine"),
            (b"mine", "mine"),
            (b'{"error":{"message":"mine","trace":"' + b"x" * 5000, "mine"),
        ):
            self.assertTrue(words in str(self.failure(body, status=400)))
        self.assertFalse("<" in str(self.failure(b"<html>nginx</html>", status=502)))
        self.assertEqual(self.failure(EOFError(), status=500).kind, "timeout")

    def test_the_key_never_appears(self):
        key = Candidate().api_key
        for body in (
            b"x" * 180 + key.encode() * 5,
            b"x" * (1024 - 12) + key.encode(),
            b"y" * 50 + key.encode()[:-3],
        ):
            text = str(self.failure(body, status=400))
            self.assertFalse(key[:9] in text)

    def test_sentences_are_one_line(self):
        self.assertFalse("\n" in str(self.failure(b"a\nb\n\nc", status=418)))


if __name__ == "__main__":
    unittest.main()
