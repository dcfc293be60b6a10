# tenner tests: server-sent events, cut at every byte.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from tenner.net.sse import SseReader

# (stream, its events, was [DONE] seen)
STREAMS = (
    (b'data: {"a":1}\n\ndata:{"b":2}\n\n', [b'{"a":1}', b'{"b":2}'], False),
    (b'data: {"a":1}\r\n\r\ndata: {"b":2}\r\n\r\n', [b'{"a":1}', b'{"b":2}'], False),
    (b"data: 1\r\rdata: 2\r\r", [b"1", b"2"], False),
    (b": comment\n\n:\n\n: data: x\n\ndata: 1\n\n", [b"1"], False),
    (b"event: ping\nid: 7\nretry: 10\ndata: 1\ndatax: 2\n\n", [b"1"], False),
    (b"data: one\ndata: two\ndata:\ndata:  three\n\n", [b"one\ntwo\n\n three"], False),
    (b"data: 1\n\ndata: [DONE]\n\ndata: 2\n\n", [b"1"], True),
    (b"data:[DONE]\r\n\r\n", [], True),
    (b"data: [DONE]", [], True),
    (b"data: [DONEX]\n\ndata: [1]\n\ndata: [\n\n", [b"[DONEX]", b"[1]", b"["], False),
    (b"data: no blank line", [b"no blank line"], False),
    (b"data: no blank line\n", [b"no blank line"], False),
    (b"\xef\xbb\xbfdata: 1\n\n", [b"1"], False),
    (b"event: only\n\n\n\n", [], False),
    (b"data\n\ndata:\n\n", [], False),
    (b"data: a:b: c\n\n", [b"a:b: c"], False),
    (b"averyveryveryverylongfieldname: 1\ndata: 2\n\n", [b"2"], False),
    (b"<html>\n<body>nothing</body>\n", [], False),
    (b"", [], False),
)


class Collector:
    def __init__(self):
        self.events = []
        self._parts = []
        self.reader = SseReader(self._parts.append, self._end)

    def _end(self):
        self.events.append(b"".join(self._parts))
        self._parts.clear()


def read(data, *cuts):
    collector = Collector()
    last = 0
    for place in cuts:
        collector.reader.feed(data[last:place])
        last = place
    collector.reader.feed(memoryview(data)[last:])
    collector.reader.end()
    return collector.events, collector.reader.done


class TestSse(unittest.TestCase):
    def test_cut_at_every_byte(self):
        for data, events, done in STREAMS:
            for place in range(len(data) + 1):
                with self.subTest(data=data, place=place):
                    self.assertEqual(read(data, place), (events, done))

    def test_byte_by_byte(self):
        for data, events, done in STREAMS:
            with self.subTest(data=data):
                self.assertEqual(read(data, *range(len(data))), (events, done))

    def test_done_is_known_without_its_blank_line(self):
        reader = Collector().reader
        reader.feed(b"data: [DONE]\n")
        self.assertTrue(reader.done)

    def test_payload_is_not_held_until_the_line_ends(self):
        seen = [0]

        def on_data(piece):
            seen[0] += len(piece)

        reader = SseReader(on_data, lambda: None)
        reader.feed(b"data: y")
        for count in range(1000):
            self.assertEqual(seen[0], 1 + count * 1024)
            reader.feed(b"x" * 1024)

    def test_a_field_name_without_end_takes_no_memory(self):
        reader = Collector().reader
        for _ in range(100):
            reader.feed(b"z" * 1024)
        self.assertTrue(len(reader._held) < 32)


if __name__ == "__main__":
    unittest.main()
