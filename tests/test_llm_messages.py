# tenner tests: the messages format: requests and replies.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import unittest

from llm_fakes import DIALOG_KINDS, HISTORY, Blocks, Candidate, Http, Request, Response, complete
from support import run, temp_folder
from tenner.llm import messages as wire
from tenner.llm.errors import LlmError
from tenner.net.json.writer import quote
from tenner.store import files


def candidate(**fields):
    fields["api"] = "messages"
    return Candidate(**fields)


def sent(request, **fields):
    return b"".join(wire.body(candidate(**fields), request))


def events(*chunks):
    return b"".join(
        [
            b"event: "
            + chunk["type"].encode()
            + b"\ndata: "
            + json.dumps(chunk).encode()
            + b"\n\n"
            for chunk in chunks
        ]
    )


def receive(*pieces, **options):
    http = Http(Response([piece for piece in pieces if piece != b""], **options))
    return run(complete(http, candidate(), Request(), 5))


def calls(reply):
    return [(call.id, call.name, call.arguments_text) for call in reply.calls]


START = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "stop_reason": None,
        "usage": {
            "input_tokens": 10,
            "cache_creation_input_tokens": 20,
            "cache_read_input_tokens": 300,
            "cache_creation": {"ephemeral_5m_input_tokens": 20},
            "output_tokens": 1,
        },
    },
}


def block(index, **fields):
    return {"type": "content_block_start", "index": index, "content_block": fields}


def delta(index, **fields):
    return {"type": "content_block_delta", "index": index, "delta": fields}


def closed(index):
    return {"type": "content_block_stop", "index": index}


def stop(reason):
    return {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 42},
    }


END = {"type": "message_stop"}

FULL = events(
    START,
    block(0, type="thinking", thinking="", signature=""),
    {"type": "ping"},
    delta(0, type="thinking_delta", thinking="hidden"),
    delta(0, type="signature_delta", signature="c2ln"),
    closed(0),
    block(1, type="text", text=""),
    delta(1, type="text_delta", text="It is "),
    delta(1, type="text_delta", text="21 °C 😀"),
    closed(1),
    block(2, type="tool_use", id="toolu_1", name="read", input={}),
    delta(2, type="input_json_delta", partial_json=""),
    delta(2, type="input_json_delta", partial_json='{"na'),
    delta(2, type="input_json_delta", partial_json='me":"x"}'),
    closed(2),
    block(3, type="tool_use", id="toolu_2", name="list", input={}),
    closed(3),
    stop("tool_use"),
    END,
)


class TestBody(unittest.TestCase):
    def test_the_target_has_address_and_headers(self):
        for base in ("https://api.example", "https://api.example/", "https://api.example/v1"):
            url, headers = wire.target(candidate(base_url=base))
            self.assertEqual(url, "https://api.example/v1/messages")
            self.assertTrue(("x-api-key", "sk-secret-0123456789") in headers)
            self.assertTrue(("anthropic-version", "2023-06-01") in headers)

    def test_the_body_of_a_request(self):
        self.assertEqual(
            sent(Request()),
            b'{"model":"some-model","stream":true,"max_tokens":500,"system":[{"type":"text",'
            b'"text":"Be brief.","cache_control":{"type":"ephemeral"}}],"messages":['
            b'{"role":"user","content":[{"type":"text","text":"hi"}]}]}',
        )

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
            ["user", "assistant", "user", "assistant", "user"],
        )
        texts = [item["text"] for item in messages[0]["content"]]
        self.assertEqual(texts, ['They like "tea".', "How warm\nis it? 😀"])
        first, second = messages[1]["content"]
        self.assertEqual((first["type"], first["id"]), ("tool_use", "call_1"))
        self.assertEqual(first["input"]["deep"], [1, {"x": None}])
        self.assertEqual((second["name"], second["input"]), ("list", {}))
        results = messages[2]["content"]
        self.assertEqual(
            [item["type"] for item in results], ["tool_result", "tool_result", "text"]
        )
        self.assertEqual(
            [item.get("tool_use_id") for item in results], ["call_1", second["id"], None]
        )
        self.assertEqual(messages[3]["content"], [{"type": "text", "text": "It is A 21.4."}])

    def test_call_ids_of_other_apis_are_put_into_the_letters_taken_here(self):
        seen = []
        for id in ("toolu_01-aZ", "functions.i2c:0", "functions_i2c_0", 'a"b\\', "\u00e9"):
            quoted = quote(id)
            lines = (
                b'["u","a"]\n',
                b'["a",""]\n',
                b'["c",%s,"f",{}]\n' % quoted,
                b'["t",%s,"ok"]\n' % quoted,
            )
            messages = json.loads(sent(Request(lines)))["messages"]
            call = messages[1]["content"][0]["id"]
            self.assertEqual(messages[2]["content"][0]["tool_use_id"], call)
            for letter in call:
                self.assertTrue(letter in "-_" or "0" <= letter <= "9" or "A" <= letter <= "z", id)
            seen.append(call)
        self.assertEqual(seen[:3], ["toolu_01-aZ", "functions_2ei2c_3a0", "functions_i2c_0"])

    def test_nothing_empty_is_sent(self):
        lines = (b'["u","a"]\n', b'["a",""]\n', b'["u","b"]\n', b'["n",""]\n')
        messages = json.loads(sent(Request(lines)))["messages"]
        self.assertEqual(len(messages), 1)
        self.assertEqual([item["text"] for item in messages[0]["content"]], ["a", "b"])

    def test_schema_files(self):
        folder = temp_folder(self)
        for size in (0, 200, 240, 244, 250, 256, 600):
            path = folder + "/tool%d.json" % size
            properties = {"parameters": {"type": "string"}}
            schema = {
                "name": "f",
                "description": "x" * size + ' "parameters": ',
                "parameters": {"type": "object", "properties": properties},
            }
            text = ",".join(
                ["%s:%s" % (json.dumps(k), json.dumps(schema[k])) for k in sorted(schema)]
            )
            with open(path, "w") as file:
                file.write("{" + text + "}\n")
            tool = json.loads(sent(Request(tools=((path, 0, files.size(path)),) * 2)))["tools"][1]
            self.assertEqual(tool["input_schema"], schema["parameters"])
            self.assertEqual(tool["description"], schema["description"])
            self.assertFalse("parameters" in tool)


class TestReply(unittest.TestCase):
    def check_full(self, reply):
        self.assertEqual(reply.text, "It is 21 °C 😀")
        self.assertEqual(
            calls(reply), [("toolu_1", "read", '{"name":"x"}'), ("toolu_2", "list", "{}")]
        )
        self.assertEqual(reply.stop, "tools")
        self.assertEqual((reply.tokens_in, reply.tokens_out), (330, 42))
        self.assertFalse(reply.estimated)

    def test_cut_at_every_byte(self):
        for place in range(len(FULL)):
            self.check_full(receive(FULL[:place], FULL[place:]))

    def test_byte_by_byte(self):
        data = FULL.replace(b"\n", b"\r\n")
        self.check_full(receive(*[data[i : i + 1] for i in range(len(data))]))

    def test_plain_reply_cut_at_every_byte(self):
        arguments = {"a": [1, {"b": None}, "x"], "c": 'q"'}
        data = json.dumps(
            {
                "type": "message",
                "content": [
                    {"type": "thinking", "thinking": "hidden", "signature": "x"},
                    {"type": "text", "text": "Hi 😀"},
                    {"type": "tool_use", "id": "1", "name": "f", "input": arguments},
                    {"type": "tool_use", "id": "2", "name": "g", "input": {}},
                ],
                "stop_reason": "tool_use",
                "usage": {"input_tokens": 3, "output_tokens": 4},
            }
        ).encode()
        for place in range(len(data)):
            reply = receive(data[:place], data[place:])
            self.assertEqual((reply.text, reply.stop), ("Hi 😀", "tools"))
            self.assertEqual([call.id for call in reply.calls], ["1", "2"])
            self.assertEqual(json.loads(reply.calls[0].arguments_text), arguments)
            self.assertEqual(reply.calls[1].arguments_text, "{}")
            self.assertEqual((reply.tokens_in, reply.tokens_out), (3, 4))

    def test_reasons_to_stop(self):
        for reason, expected in (
            ("end_turn", "stop"),
            ("stop_sequence", "stop"),
            ("pause_turn", "stop"),
            ("max_tokens", "length"),
            ("model_context_window_exceeded", "length"),
            ("refusal", "refusal"),
        ):
            data = events(START, delta(0, type="text_delta", text="x"), stop(reason), END)
            self.assertEqual(receive(data).stop, expected)

    def test_end_without_its_event(self):
        data = events(START, delta(0, type="text_delta", text="x"), stop("end_turn"))
        self.assertEqual(receive(data).text, "x")

    def test_input_at_the_start_of_the_block(self):
        data = events(START, block(0, type="tool_use", id="1", name="f", input={"a": 1}), END)
        self.assertEqual(calls(receive(data)), [("1", "f", '{"a":1}')])

    def test_a_block_that_is_none_is_passed_over(self):
        for odd in (0, "x", True, [], {}):
            odd = {"type": "content_block_start", "index": 0, "content_block": odd}
            data = events(START, odd, delta(0, type="text_delta", text="x"), stop("end_turn"))
            self.assertEqual(receive(data).text, "x")

    def test_blocks_of_the_servers_own_tools_are_ignored(self):
        data = events(
            START,
            block(0, type="server_tool_use", id="s", name="web_search", input={}),
            delta(0, type="input_json_delta", partial_json='{"query":"x"}'),
            closed(0),
            delta(1, type="text_delta", text="x"),
            stop("end_turn"),
            END,
        )
        reply = receive(data)
        self.assertEqual((reply.text, reply.calls), ("x", []))


class TestFailure(unittest.TestCase):
    def failure(self, *pieces, **options):
        with self.assertRaises(LlmError) as caught:
            receive(*pieces, **options)
        return caught.exception

    def test_error_event(self):
        for kind, cls in (
            ("overloaded_error", "rate_limit"),
            ("rate_limit_error", "rate_limit"),
            ("api_error", "timeout"),
            ("invalid_request_error", "unknown"),
        ):
            error = {"type": "error", "error": {"type": kind, "message": "Something"}}
            data = events(START, delta(0, type="text_delta", text="x"), error)
            for place in range(0, len(data), 11):
                self.assertEqual(self.failure(data[:place], data[place:]).kind, cls)
        self.assertTrue("Something" in str(self.failure(data)))

    def test_cut_off(self):
        for place in range(0, len(FULL) - len(events(stop("tool_use"), END)), 13):
            self.assertEqual(self.failure(FULL[:place], EOFError()).kind, "timeout")
        self.assertEqual(self.failure(events(START)).kind, "timeout")

    def test_a_status_gives_the_kind_of_failure(self):
        body = b'{"type":"error","error":{"type":"invalid_request_error","message":"%s"}}'
        body = body.replace(b"%s", b"prompt is too long: 210000 tokens > 200000 maximum")
        self.assertEqual(self.failure(body, status=400).kind, "context_overflow")


if __name__ == "__main__":
    unittest.main()
