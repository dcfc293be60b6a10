# tenner tests: models that refuse a request exactly where the real ones do, by public reports.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Each server thinks, calls a tool in the first round of a question, and answers "ok" in the second.
It remembers the fields it has sent, and answers 400 in the words of its provider.
"""

import json

from llm_fakes import Response

_ID_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Server:
    """A server of chat completions. `split` cuts its replies into pieces of so many bytes."""

    api = "chat"
    title = "Server of chat completions"
    #: The requests it refuses, and the reports behind that.
    refuses = ""
    source = ""
    #: How many times it may refuse before the turn works: then the agent has learned.
    learning = 0
    #: How many times more in a chat with calls of another model.
    foreign = 0
    #: The number of requests after which it is down.
    down_after = -1
    split = 0

    def __init__(self):
        self.refused = []
        self.bodies = []
        self.sent = {}  # id of a call -> the fields that must come back with it

    def thought(self, number):
        return 'I look, for the %d. time: "a\\b" \u00e9 \u4e2d \U0001f600\n' % number

    def answer(self, raw):
        """Return the Response to a request's body."""
        body = json.loads(raw)
        self.bodies.append(body)
        wrong = self.wrong(body)
        if wrong:
            self.refused.append(wrong)
            return Response(
                [
                    json.dumps(
                        {"error": {"message": wrong, "type": "invalid_request_error"}}
                    ).encode()
                ],
                400,
            )
        data = self.stream(body)
        size = self.split or len(data)
        return Response([data[i : i + size] for i in range(0, len(data), size)])

    # --- chat completions

    def is_first(self, body):
        return body["messages"][-1]["role"] == "user"

    def stream(self, body):
        events = self.calls(len(self.sent)) if self.is_first(body) else self.text()
        return b"".join([b"data: " + json.dumps(one).encode() + b"\n\n" for one in events]) + (
            b"data: [DONE]\n\n"
        )

    def text(self):
        return [delta(content="ok"), stop("stop")]

    def calls(self, number):
        id = self.id(number)
        self.sent[id] = None
        return [delta(tool_calls=[call(id)]), stop("tool_calls")]

    def id(self, number):
        return "call_%s_%d" % (self.__class__.__name__, number)

    def with_calls(self, body):
        """The assistant's messages with calls."""
        return [one for one in body["messages"] if one.get("tool_calls")]

    def wrong(self, body):
        """Return the provider's words for a request it refuses, or None."""
        waiting = []
        for message in body["messages"]:
            if message["role"] == "tool":
                if message["tool_call_id"] not in waiting:
                    return "a result without a call"
                waiting.remove(message["tool_call_id"])
            elif waiting:
                return "a call without a result"
            for one in message.get("tool_calls", ()):
                waiting.append(one["id"])
        return self.refusal(body)

    def refusal(self, body):
        return None


def delta(**fields):
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def stop(reason):
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def call(id, index=0, **more):
    one = {
        "index": index,
        "id": id,
        "type": "function",
        "function": {"name": "echo", "arguments": '{"x":%d}' % index},
    }
    one.update(more)
    return one


class Gemini(Server):
    title = "Gemini 3, compatible endpoint"
    refuses = "a step whose first call lacks its `thought_signature`"
    source = "qwen-code 1187, securo 884; pi 1825: a stand-in is documented"
    size = 40  # bytes of a signature
    STAND_IN = "skip_thought_signature_validator"
    foreign = 1

    def signature(self, number):
        return "".join(["U%03d+/" % ((number * 37 + i) % 1000) for i in range(self.size // 6)])

    def calls(self, number):
        first, second = self.id(number), self.id(number) + "_b"
        self.sent[first] = self.signature(number)
        self.sent[second] = None
        signed = {"google": {"thought_signature": self.signature(number)}}
        return [
            delta(role="assistant", tool_calls=[call(first, extra_content=signed)]),
            delta(tool_calls=[call(second, 1)]),
            stop("tool_calls"),
        ]

    def refusal(self, body):
        last = max([i for i, one in enumerate(body["messages"]) if one["role"] == "user"])
        for place, message in enumerate(body["messages"]):
            for number, one in enumerate(message.get("tool_calls", ())):
                google = one.get("extra_content", {}).get("google", {})
                found = google.get("thought_signature")
                wanted = self.sent.get(one["id"])
                if found is None and wanted is None and number:
                    continue
                # Of the current turn the real one, unless another model has made the call.
                same = found == wanted or wanted and place < last and found == self.STAND_IN
                if found is None or not same and (wanted or found != self.STAND_IN):
                    return (
                        "Function call is missing a thought_signature in functionCall parts. This "
                        "is required for tools to work correctly, and missing thought_signature "
                        "may lead to degraded model performance. Additional data, function call "
                        "`default_api:echo` , position %d." % place
                    )
        return None


class LongGemini(Gemini):
    title = "Gemini 3, signatures of 6 KB"
    size = 6000


class Reasoning(Server):
    """Kimi and DeepSeek: the member must be there, in the current turn with its text."""

    refuses = "a message with calls that lacks `reasoning_content`"
    foreign = 1
    words = "thinking is enabled but reasoning_content is missing in assistant tool call message"

    def calls(self, number):
        id = self.id(number)
        self.sent[id] = self.thought(number) * 3
        return (
            [delta(role="assistant", content=None, reasoning_content="")]
            + [delta(reasoning_content=self.thought(number)) for _ in range(3)]
            + [delta(tool_calls=[call(id)]), stop("tool_calls")]
        )

    def refusal(self, body):
        last = max([i for i, one in enumerate(body["messages"]) if one["role"] == "user"])
        for place, message in enumerate(body["messages"]):
            if message.get("tool_calls"):
                wanted = self.sent.get(message["tool_calls"][0]["id"])
                found = message.get("reasoning_content")
                if found is None or wanted is not None and place > last and found != wanted:
                    return self.words
        return None


class Kimi(Reasoning):
    title = "Kimi with thinking"
    source = "hermes-agent 15353"

    def id(self, number):
        return "functions.echo:%d" % number


class DeepSeek(Reasoning):
    title = "DeepSeek with thinking"
    source = "pi 3636, qwen-code 3578, GitNexus 43"
    words = "The reasoning_content in the thinking mode must be passed back to the API."


class OpenRouter(Server):
    title = "OpenRouter, `reasoning_details`"
    refuses = "in the current turn, a message with calls without the same sequence of details"
    source = "Roo-Code 9506"

    def calls(self, number):
        id = self.id(number)
        text = self.thought(number)
        self.sent[id] = [
            {"type": "reasoning.text", "text": text * 2, "signature": "c2ln", "index": 0},
            {"type": "reasoning.encrypted", "data": "ZW5j" * 200, "id": id, "index": 1},
        ]
        events = [
            delta(
                role="assistant",
                content="",
                reasoning=text,
                reasoning_details=[{"type": "reasoning.text", "text": text, "index": 0}],
            )
            for _ in range(2)
        ]
        for detail in (
            {"type": "reasoning.text", "signature": "c2ln", "index": 0},
            self.sent[id][1],
        ):
            events.append(delta(content="", reasoning_details=[detail]))
        return events + [delta(tool_calls=[call(id)]), stop("tool_calls")]

    def refusal(self, body):
        last = max([i for i, one in enumerate(body["messages"]) if one["role"] == "user"])
        for message in body["messages"][last:]:
            if message.get("tool_calls"):
                wanted = self.sent.get(message["tool_calls"][0]["id"])
                if message.get("reasoning_details") != wanted:
                    return "Corrupted thought signature."
        return None


class Anthropic(Server):
    api = "messages"
    title = "Anthropic with thinking"
    refuses = "in the current turn, a `tool_use` whose message does not begin with its thinking"
    source = "platform documentation, extended thinking with tool use"
    redacted = True
    THOUGHTS = 1

    def is_first(self, body):
        return body["messages"][-1]["content"][-1]["type"] == "text"

    def blocks(self, number):
        blocks = [
            {
                "type": "thinking",
                "thinking": self.thought(number) * 3 * self.THOUGHTS,
                "signature": "EqQB+/=" * 40 + str(number),
            }
        ]
        if self.redacted:
            blocks.append({"type": "redacted_thinking", "data": "ZW5j+" * 80})
        return blocks

    def calls(self, number):
        id = self.id(number)
        blocks = self.sent[id] = self.blocks(number)
        events = [{"type": "message_start", "message": {"role": "assistant", "content": []}}]
        for index, block in enumerate(blocks):
            if block["type"] == "thinking":
                empty = {"type": "thinking", "thinking": "", "signature": ""}
                third = len(block["thinking"]) // 3
                events.append(begin(index, empty))
                for start in range(0, 3 * third, third):
                    text = block["thinking"][start : start + third]
                    events.append(piece(index, type="thinking_delta", thinking=text))
                events.append(piece(index, type="signature_delta", signature=block["signature"]))
            else:
                events.append(begin(index, block))
            events.append({"type": "content_block_stop", "index": index})
        index = len(blocks)
        use = {"type": "tool_use", "id": id, "name": "echo", "input": {}}
        return events + [
            begin(index, use),
            piece(index, type="input_json_delta", partial_json='{"x":0}'),
            {"type": "content_block_stop", "index": index},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            {"type": "message_stop"},
        ]

    def text(self):
        return [
            begin(0, {"type": "text", "text": ""}),
            piece(0, type="text_delta", text="ok"),
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
            {"type": "message_stop"},
        ]

    def wrong(self, body):
        return self.refusal(body)

    def asked(self, body):
        """Return the place of the last message of a person."""
        places = [
            i
            for i, one in enumerate(body["messages"])
            if one["role"] == "user" and one["content"][-1]["type"] == "text"
        ]
        return places[-1]

    def refusal(self, body):
        asked = self.asked(body)
        for place, message in enumerate(body["messages"]):
            blocks = message["content"]
            uses = [one for one in blocks if one["type"] == "tool_use"]
            if uses:
                wanted = self.sent.get(uses[0]["id"])
                found = [one for one in blocks if "thinking" in one["type"]]
                if blocks[: len(found)] != found or not self.fits(found, wanted, place > asked):
                    return self.words
        return None

    words = (
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
        "`tool_use`. When `thinking` is enabled, a final `assistant` message must start with a "
        "thinking block."
    )

    def fits(self, found, wanted, current):
        if wanted is None or not current:
            return not found or found == wanted
        return found == wanted


class DeepSeekMessages(Anthropic):
    title = "DeepSeek with thinking, Anthropic's format"
    refuses = "a `tool_use` of any turn whose message does not begin with a block of thinking"
    source = "9router 2397"
    redacted = False
    learning = 1
    THOUGHTS = 9
    words = "The `content[].thinking` in the thinking mode must be passed back to the API."

    def fits(self, found, wanted, current):
        return found and (not current or wanted is None or found == wanted)


class MiniMax(Anthropic):
    title = "MiniMax, Anthropic's format"
    redacted = False


class Groq(Server):
    title = "Groq, gpt-oss"
    refuses = "`reasoning` in a message, which it sends itself"
    source = "gptel 774, jan 8136"
    learning = 1

    def calls(self, number):
        return [delta(reasoning=self.thought(number))] + Server.calls(self, number)

    def refusal(self, body):
        for place, message in enumerate(body["messages"]):
            for name in message:
                if name not in ("role", "content", "tool_calls", "tool_call_id"):
                    return (
                        "'messages.%d' : for 'role:assistant' the following must be satisfied"
                        "[('messages.%d' : property '%s' is unsupported)]" % (place, place, name)
                    )
        return None


class Mistral(Server):
    title = "Mistral"
    refuses = "an id of a call that has not nine letters and digits"
    source = "opencode 1680, gptel 1203"
    foreign = 1

    def id(self, number):
        return "D681Pev%02d" % number

    def refusal(self, body):
        for message in body["messages"]:
            ids = [one["id"] for one in message.get("tool_calls", ())]
            if "tool_call_id" in message:
                ids.append(message["tool_call_id"])
            for id in ids:
                if len(id) != 9 or id.strip(_ID_LETTERS):
                    return (
                        "Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9." % id
                    )
        return None


class NewOpenAI(Server):
    title = "OpenAI's newer models behind another address"
    refuses = "`max_tokens`"
    source = "vscode-copilot-release 8065, opencode 37964"
    learning = 1

    def refusal(self, body):
        if "max_tokens" in body:
            return (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead."
            )
        return None


class OldServer(Server):
    title = "A server of an older form"
    refuses = "`stream_options` and both limits"
    source = "Flowise 2866, openai-python 2296"
    learning = 3

    def refusal(self, body):
        for name in ("stream_options", "max_completion_tokens", "max_tokens"):
            if name in body:
                return "Extra inputs are not permitted, field: ('body', '%s')" % name
        return None


class Proxy(Anthropic):
    title = "A proxy of Anthropic's format"
    refuses = "`cache_control`"
    source = "vertexai-cf-workers 21, anthropic-sdk-typescript 553"
    learning = 1

    def refusal(self, body):
        if "cache_control" in body["system"][0]:
            return "system.0.cache_control: Extra inputs are not permitted"
        return Anthropic.refusal(self, body)


def begin(index, block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def piece(index, **fields):
    return {"type": "content_block_delta", "index": index, "delta": fields}


#: The servers of the table in docs/services.md.
SERVERS = (
    Gemini,
    LongGemini,
    Kimi,
    DeepSeek,
    DeepSeekMessages,
    OpenRouter,
    Anthropic,
    MiniMax,
    Groq,
    Mistral,
    NewOpenAI,
    OldServer,
    Proxy,
)
