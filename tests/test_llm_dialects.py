# tenner tests: the table of replies as servers really send them (llm_dialects.json).
# MIT license; Copyright (c) 2026 the tenner authors
"""
A row has `server` and `api` (chat by default). `stream` is a list of events: an object is the data
of one, a text a line as it is. Instead of it, `reply` is a text that comes in one event, in two,
and letter by letter; `plain` is a reply without a stream. `end` is false for a stream without
[DONE]. The row expects `calls`, a list of [name, arguments], or `text`, or a part of an `error`.
"""

import json
import sys
import unittest

from llm_fakes import Candidate, Http, Request, Response, complete
from support import run
from tenner import log
from tenner.agent import call_repair, tool_calls
from tenner.agent.errors import Stopped
from tenner.llm import dialects
from tenner.llm.errors import LlmError

#: Places where a stream is cut in two.
PLACES = 120 if sys.implementation.name == "cpython" else 24
TOOLS = ["echo", "list_dir", "message", "read_file", "write_file"]


class Turn:
    kind = "person"

    class agent:
        @staticmethod
        def get(name):
            return Turn

    @staticmethod
    def names(kind):
        return TOOLS


def rows():
    """Yield the rows, a line each: the whole is more than a small heap holds."""
    with open(__file__.rsplit("/", 1)[0] + "/llm_dialects.json") as file:
        for line in file:
            if len(line) > 3:
                yield json.loads(line.rstrip().rstrip(","))


def text_event(row, text):
    if row.get("api") == "messages":
        return {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}


def end_of(row):
    if row.get("api") == "messages":
        return [{"type": "message_delta", "delta": {"stop_reason": row.get("ends", "end_turn")}}]
    return [{"choices": [{"index": 0, "delta": {}, "finish_reason": row.get("ends", "stop")}]}]


def body(row, stream):
    lines = []
    for event in stream:
        line = event if isinstance(event, str) else "data: %s\n" % json.dumps(event)
        lines.append(line + "\n")
    if row.get("end", row.get("api") != "messages"):
        lines.append("data: [DONE]\n\n")
    return "".join(lines).encode()


def streams(row):
    """Yield the pieces in which the body of a row arrives."""
    if "plain" in row:
        data = json.dumps(row["plain"]).encode()
    elif "reply" in row:
        text = row["reply"]
        data = body(row, [text_event(row, text)] + end_of(row))
        for place in range(0, len(text), max(1, 2 * len(text) // PLACES)):
            events = [text_event(row, text[:place]), text_event(row, text[place:])]
            yield [body(row, events + end_of(row))]
        if PLACES >= 100 or len(text) < 60:
            letters = [text_event(row, text[i : i + 1]) for i in range(len(text))]
            yield [body(row, letters + end_of(row))]
    else:
        data = body(row, row["stream"])
    yield [data]
    for place in range(1, len(data), max(1, len(data) // PLACES)):
        yield [data[:place], data[place:]]


def result(row, pieces):
    """Return the outcome of a reply in the form of a row."""
    http = Http(Response(pieces))
    try:
        reply = run(complete(http, Candidate(api=row.get("api", "chat")), Request(), 5))
        reply.blocks = ()
        if tool_calls.is_odd(reply):
            run(call_repair.repair(Turn, reply))
    except (LlmError, Stopped) as error:
        text = str(error)
        return {"error": row.get("error") if row.get("error", "\0") in text else text}
    found = {}
    if reply.calls:
        found["calls"] = [
            [call.name, call.arguments_text and json.loads(call.arguments_text)]
            for call in reply.calls
        ]
        if len({call.id for call in reply.calls}) < len(reply.calls):
            found["calls"] = "with the same ids"
    if reply.text or not reply.calls:
        found["text"] = reply.text
    if "stop" in row:
        found["stop"] = reply.stop
    return found


class TestDialects(unittest.TestCase):
    def setUp(self):
        self.addCleanup(setattr, log, "write", log.write)
        log.write = str  # hundreds of lines

    def test_each_reply_is_understood_wherever_it_is_cut(self):
        wrong = []
        for row in rows():
            expected = {key: row[key] for key in ("calls", "text", "error", "stop") if key in row}
            for pieces in streams(row):
                found = result(row, pieces)
                if found != expected:
                    wrong.append((row["server"], found, expected, pieces))
                    break
        for entry in wrong:
            print(entry)
        self.assertEqual([entry[0] for entry in wrong], [])

    def test_markup_is_known_from_an_answer(self):
        for row in rows():
            text = row.get("reply", "")
            if text and "<" in text:
                expected = "text" not in row
                self.assertEqual(bool(dialects.is_call(text)), expected, row)

    def test_a_name_with_decorations_means_a_tool_if_one_remains(self):
        for name, expected in (
            ("list_dir", "list_dir"),
            ("list_dir<|channel|>commentary", "list_dir"),
            ("message<|channel|>commentary", "message"),
            ("functions.list_dir", "list_dir"),
            ("functions.list_dir:0", "list_dir"),
            ("default_api:list_dir", "list_dir"),
            (" list_dir\n", "list_dir"),
            ("functions_list_dir", "list_dir"),
            ("List_Dir", "list_dir"),
            ("list-dir", "list_dir"),
            ("list_dir()", "list_dir"),
            ("list_dir<|message|>", "list_dir"),
            ("list_dir.read_file", None),
            ("remove_dir", None),
            ("list_dir2", None),
            ("", None),
        ):
            self.assertEqual(call_repair.tool(name, TOOLS), expected, name)


if __name__ == "__main__":
    unittest.main()
