# Events that differ from the one before in a piece of text only are not parsed again, and say the
# same. MIT license; Copyright (c) 2026 the tenner authors

import json
import unittest

from llm_fakes import Candidate, Http, Request, Response, complete
from support import run
from tenner.llm.collect import Collector
from tenner.net.json.scanner import Scanner

TEXTS = (
    "Hello",
    " there",
    ' "quoted"',
    " back\\slash",
    " \\",
    '\\"',
    '"',
    " new\nline\n",
    " tab\t",
    " é €",
    " 😀",
    " \x01",
    " {}",
    ' "},"finish_reason":null}]}',
    " x",
    " x",
    " <think>no</think>",
    " \\n",
    " /end",
)


class CountingScanner(Scanner):
    fed = 0

    def feed(self, data):
        CountingScanner.fed += 1
        Scanner.feed(self, data)


def receive(events, api="chat", size=64):
    data = b"".join([b"data: " + event + b"\n\n" for event in events]) + b"data: [DONE]\n\n"
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    candidate = Candidate(api=api)
    reply = run(complete(Http(Response(pieces)), candidate, Request(), 60))
    return reply.text, [(call.name, call.arguments_text) for call in reply.calls], reply.stop


def text_event(text, id="x"):
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    return json.dumps({"id": id, "object": "chunk", "choices": [choice], "usage": None}).encode()


def call_event(arguments, id="x", index=0, name=None):
    call = {"index": index, "function": {"arguments": arguments}}
    if name:
        call["id"] = name
        call["function"]["name"] = name
    choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}
    return json.dumps({"id": id, "object": "chunk", "choices": [choice]}).encode()


def block_event(text, kind="text_delta", key="text", more=0):
    event = {"type": "content_block_delta", "index": 0, "delta": {"type": kind, key: text}}
    if more:
        event["n"] = more
    return json.dumps(event).encode()


class TestDraft(unittest.TestCase):
    def test_a_draft_of_a_whole_reply_has_its_end_once(self):
        text = "one more line, " * 60
        collector = Collector(Request(), 0)
        for at in range(0, len(text), 5):
            collector.put(text[at : at + 5])
        self.assertEqual("".join(collector.finish().blocks), text)
        self.assertEqual(collector.draft(), text)


class TestStream(unittest.TestCase):
    def test_text_is_the_same_whether_events_repeat_or_not(self):
        for size in (7, 64, 512, 9000):
            same = receive([text_event(text) for text in TEXTS], size=size)
            different = receive([text_event(text, "x%d" % i) for i, text in enumerate(TEXTS)])
            self.assertEqual(same, different)
        self.assertEqual(same[0], "".join(TEXTS).replace("<think>no</think>", ""))

    def test_arguments_are_the_same_whether_events_repeat_or_not(self):
        arguments = json.dumps({"path": "a b", "text": "".join(TEXTS)})
        pieces = [arguments[i : i + 3] for i in range(0, len(arguments), 3)]
        same = [call_event("", name="f")] + [call_event(piece) for piece in pieces]
        different = [call_event("", name="f")] + [
            call_event(piece, "x%d" % i) for i, piece in enumerate(pieces)
        ]
        self.assertEqual(receive(same), receive(different))
        self.assertEqual(receive(same)[1], [("f", arguments)])

    def test_pieces_of_calls_that_take_turns(self):
        events = [call_event("", name="f"), call_event("", index=1, name="g")]
        for piece in ("{", '"a":', "1", "2", "}"):
            events += [call_event(piece), call_event(piece, index=1)]
        self.assertEqual(receive(events)[1], [("f", '{"a":12}'), ("g", '{"a":12}')])

    def test_a_call_between_pieces_without_index_is_not_missed(self):
        def event(arguments, name=None):
            function = {"arguments": arguments, "name": name}
            return json.dumps(
                {"choices": [{"delta": {"tool_calls": [{"id": name, "function": function}]}}]}
            ).encode()

        events = [event("", "f")] + [event(piece) for piece in ("{", " ", "}")]
        events += [event("", "g")] + [event(piece) for piece in ("{", " ", "}")]
        self.assertEqual(receive(events)[1], [("f", "{ }"), ("g", "{ }")])

    def test_the_other_api(self):
        start = [b'{"type":"message_start","message":{"usage":{"input_tokens":3}}}']
        texts = start + [
            b'{"type":"content_block_start","content_block":{"type":"text","text":""}}'
        ]
        same = receive(texts + [block_event(text) for text in TEXTS], "messages")
        different = [block_event(text, more=i + 1) for i, text in enumerate(TEXTS)]
        self.assertEqual(same, receive(texts + different, "messages"))
        call = b'{"type":"content_block_start","content_block":{"type":"tool_use","id":"1","name":"f"}}'  # noqa: E501
        pieces = [block_event(c, "input_json_delta", "partial_json") for c in '{"a":"\\"x\\\\"}']
        self.assertEqual(
            receive(start + [call] + pieces, "messages")[1], [("f", '{"a":"\\"x\\\\"}')]
        )

    def test_damage_inside_an_event_that_begins_and_ends_as_usual_is_found(self):
        good = text_event("abc")
        for wrong in (b'a"b', b'a","b', b"a\\", b"a\\xb"):
            with self.assertRaises(Exception) as caught:
                receive([good, good, good.replace(b"abc", wrong)])
            self.assertEqual(type(caught.exception).__name__, "LlmError")

    def test_members_that_nobody_wants_and_every_event_begins_with(self):
        choice = b'"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]'
        for begin in (
            b'"id":"x","model":"m",',
            b'"choices_of":{"choices":1},',
            b'"id":"[",',
            b'"id":"{",',
            b'"id":"choices",',
            b'"id":"\\"choices\\",",',
            b'"x":{"a":1,',
            b'"x":[1,',
            b"",
        ):
            ends = {b'"x":{"a":1,': b'"choices":1},', b'"x":[1,': b'"choices"],'}
            begin += ends.get(begin, b"")
            events = [
                b"{" + begin + choice % text + b',"n":%d}' % number
                for number, text in enumerate((b"a", b"b", b"c"))
            ]
            self.assertEqual(receive(events)[0], "abc")

    def test_most_events_are_not_parsed(self):
        from tenner.llm import stream

        self.addCleanup(setattr, stream, "Scanner", Scanner)
        stream.Scanner = CountingScanner
        CountingScanner.fed = 0
        text = receive([text_event("word %d " % number) for number in range(100)])[0]
        self.assertEqual(text, "".join(["word %d " % number for number in range(100)]))
        self.assertTrue(CountingScanner.fed < 4, CountingScanner.fed)


if __name__ == "__main__":
    unittest.main()
