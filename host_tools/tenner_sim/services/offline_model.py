"""A rule-based stand-in for a language model's API, offline: chat completions and messages.

It identifies itself in its model name and on the log, and never pretends to be the real thing.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable
from typing import Any

from . import answer_rules, chat_completions, messages_api, transcription
from .conversation import Answer, Conversation, ToolCall
from .loop import LoopThread
from .records import Call, Event, Response
from .refusal import Refusal, check_bearer, check_headers, check_outline
from .server import Log, Service

MODEL = "offline-rules"
API_KEY = "offline-key"

#: A fixed moment, so that the same request gets the same bytes.
_CREATED = 1_700_000_000
_SOUND = "/v1/audio/transcriptions"
#: Tokens of a picture of any size.
_PICTURE_TOKENS = 1000


class OfflineModel(Service):
    """`POST /v1/chat/completions`, `POST /v1/messages`, `POST /v1/audio/transcriptions`, `GET
    /v1/models`.

    `base_url` is the address for clients (chat completions: with `/v1`).
    """

    #: Further checks of a path and its request's body, which raise Refusal: see
    #: tests/provider_requests.
    check_request: Callable[[str, dict[str, Any]], None] | None = None

    def __init__(
        self,
        *,
        tls: ssl.SSLContext | None = None,
        loop: LoopThread | None = None,
        host: str = "localhost",
        port: int = 0,
        log: Log | None = None,
        api_key: str = API_KEY,
        models: tuple[str, ...] = (MODEL, MODEL + "-small"),
    ) -> None:
        super().__init__(tls=tls, loop=loop, host=host, port=port, log=log)
        self.api_key = api_key
        self.models = models
        #: Largest `max_tokens` accepted, and the context all messages must fit.
        self.max_tokens = 16384
        self.context_tokens = 128_000
        #: Whether the list of models contains the context, as vLLM's does.
        self.tells_context = False
        #: The words that it hears in each sound, and the sounds so far.
        self.words = "say: hello from a voice note"
        self.sounds: list[bytes] = []
        #: Whether it takes pictures.
        self.sees = True
        #: Follow orders found in tool results, like a model that fell for an injection.
        self.obey = False
        #: Send thoughts before the answer: "" none, "field" the API's own field, "tags" <think> in
        #: the text.
        self.reasoning = ""
        #: Characters per streamed fragment.
        self.fragment = 5
        #: Answers that replace the rules' own, next first: Answer or plain text.
        self.script: list[Answer | str] = []

    @property
    def base_url(self) -> str:
        return self.url + "/v1"

    def start(self) -> None:
        super().start()
        self.tell(f"offline stand-in for a model at {self.base_url} (no model: fixed rules)")

    # --- Service ---------------------------------------------------------------------------------

    async def respond(self, call: Call) -> Response:
        request = call.request
        if request.path.startswith("/v1/models") and request.method == "GET":
            return self._models(call)
        if request.path not in ("/v1/chat/completions", "/v1/messages", _SOUND):
            return self.error_response(call, 404, f"Invalid URL ({request.method} {request.path})")
        if request.method != "POST":
            return self.error_response(
                call, 405, f"Not allowed to {request.method} on {request.path}."
            )
        try:
            if request.path == _SOUND:
                return self._transcription(call)
            if request.path == "/v1/messages":
                return self._messages(call)
            return self._chat(call)
        except Refusal as refusal:
            self.tell(f"refused ({refusal.status}): {refusal.message}")
            return _refused(call, refusal)

    def error_response(
        self, call: Call, status: int, message: str = "", retry_after_s: int | None = None
    ) -> Response:
        message = message or _MESSAGES.get(status, "The server had an error.")
        response = _refused(call, Refusal(message, status))
        if retry_after_s is not None:
            response.headers.append(("Retry-After", str(retry_after_s)))
        return response

    def error_event(self, call: Call, message: str) -> Event:
        if call.request.path == "/v1/messages":
            return Event(json.dumps(Refusal(message, 529).messages_body()), "error")
        return Event(json.dumps(Refusal(message, 500).chat_body()))

    # --- the resources -------------------------------------------------------------------------

    def _transcription(self, call: Call) -> Response:
        check_bearer(call.headers, self.api_key)
        data = transcription.check(call, ("whisper-1",))
        with self.changed:
            self.sounds.append(data)
        self.tell(f"{MODEL} (offline stand-in) hears {len(data)} bytes")
        return Response.of_json({"text": self.words})

    def _models(self, call: Call) -> Response:
        try:
            check_bearer(call.headers, self.api_key)
        except Refusal as refusal:
            return _refused(call, refusal)
        entries = [
            {"id": model, "object": "model", "created": _CREATED, "owned_by": "offline"}
            for model in self.models
        ]
        if self.tells_context:
            for entry in entries:
                entry["max_model_len"] = self.context_tokens
        wanted = call.request.path[len("/v1/models") :].strip("/")
        if not wanted:
            return Response.of_json({"object": "list", "data": entries})
        for entry in entries:
            if entry["id"] == wanted:
                return Response.of_json(entry)
        return self.error_response(call, 404, f"The model '{wanted}' does not exist")

    def _chat(self, call: Call) -> Response:
        check_bearer(call.headers, self.api_key)
        body = self._checked(call)
        conversation = chat_completions.conversation(body)
        tokens_in = estimate(body["messages"]) + estimate(body.get("tools"))
        tokens_in -= _uncounted(conversation)
        if tokens_in > self.context_tokens:
            raise Refusal(
                f"This model's maximum context length is {self.context_tokens} tokens. However, "
                "your "
                f"messages resulted in {tokens_in} tokens. Please reduce the length of the "
                "messages.",
                param="messages",
                code="context_length_exceeded",
            )
        limit = body.get("max_completion_tokens") or body.get("max_tokens")
        answer, cut = self._answer(call, conversation, limit, "call_")
        finish = "length" if cut else "tool_calls" if answer.calls else "stop"
        tokens_out = _answer_tokens(answer)
        usage = {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        }
        common = {
            "id": f"chatcmpl-offline{call.request.number}",
            "created": _CREATED,
            "model": body["model"],
            "system_fingerprint": "fp_offline",
        }
        if not body.get("stream") or call.step.plain:
            return Response.of_json(chat_completions.completion(answer, finish, common, usage))
        options = body.get("stream_options") or {}
        events = chat_completions.stream(
            answer,
            finish,
            common,
            usage if options.get("include_usage") else None,
            fragment=self.fragment,
            reasoning=_THOUGHT if self.reasoning == "field" else "",
        )
        return Response(200, b"", [("Content-Type", "text/event-stream; charset=utf-8")], events)

    def _messages(self, call: Call) -> Response:
        check_headers(call.headers, self.api_key)
        body = self._checked(call)
        conversation = messages_api.conversation(body)
        tokens_in = sum(estimate(body.get(key)) for key in ("system", "messages", "tools"))
        tokens_in -= _uncounted(conversation)
        if tokens_in > self.context_tokens:
            raise Refusal(
                f"prompt is too long: {tokens_in} tokens > {self.context_tokens} maximum"
            )
        answer, cut = self._answer(call, conversation, body["max_tokens"], "toolu_")
        stop = "max_tokens" if cut else "tool_use" if answer.calls else "end_turn"
        usage = {
            "input_tokens": tokens_in,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": _answer_tokens(answer),
        }
        common = {
            "id": f"msg_offline{call.request.number}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
        }
        if not body.get("stream") or call.step.plain:
            return Response.of_json(messages_api.message(answer, stop, common, usage))
        events = messages_api.stream(
            answer,
            stop,
            common,
            usage,
            fragment=self.fragment,
            reasoning=_THOUGHT if self.reasoning == "field" else "",
        )
        return Response(200, b"", [("Content-Type", "text/event-stream; charset=utf-8")], events)

    def _checked(self, call: Call) -> dict[str, Any]:
        """The body of a request that this model answers."""
        body: dict[str, Any] = call.request.json
        check_outline(body, self.models, self.max_tokens)
        if self.check_request is not None:
            self.check_request(call.request.path, body)
        return body

    def _answer(
        self, call: Call, conversation: Conversation, limit: int | None, prefix: str
    ) -> tuple[Answer, bool]:
        """Decide, give calls their ids, and cut the text at `limit` tokens."""
        if conversation.pictures() and not self.sees:
            raise Refusal("this model does not support image input")
        with self.changed:
            scripted = self.script.pop(0) if self.script else None
        if isinstance(scripted, str):
            answer = Answer(scripted)
        else:
            answer = scripted or answer_rules.decide(conversation, obey=self.obey)
        calls = [
            ToolCall(one.name, one.arguments, f"{prefix}offline_{call.request.number}_{index}")
            for index, one in enumerate(answer.calls)
        ]
        text = answer.text
        if self.reasoning == "tags":
            text = f"<think>{_THOUGHT}</think>\n{text}"
        names = ", ".join(one.name for one in calls)
        self.tell(
            f"{MODEL} (offline stand-in): {text[:100] or '-'}" + (f" [{names}]" if names else "")
        )
        if limit is not None and _tokens(text) > limit:
            return Answer(text.encode()[: limit * 4].decode(errors="ignore")), True
        return Answer(text, calls), False


_THOUGHT = "The rules say what to do; nobody thinks here."

_MESSAGES = {
    401: "Incorrect API key provided.",
    402: "Your credit balance is too low to access the API.",
    403: "You do not have access to this resource.",
    404: "The model does not exist.",
    408: "Request timed out.",
    413: "Request exceeds the maximum size.",
    429: "Rate limit reached for requests.",
    503: "The engine is currently overloaded, please try again later.",
    529: "Overloaded",
}


def _refused(call: Call, refusal: Refusal) -> Response:
    """The response in the words of the path's API."""
    messages = call.request.path == "/v1/messages"
    body = refusal.messages_body() if messages else refusal.chat_body()
    return Response.of_json(body, refusal.status)


def estimate(value: Any) -> int:
    """Estimate tokens: four bytes of JSON each, rounded up."""
    if not value:
        return 0
    return _tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _tokens(text: str) -> int:
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


def _uncounted(conversation: Conversation) -> int:
    """The tokens that pictures do not cost, since they count by their area."""
    sizes = [len(one.data) for message in conversation.messages for one in message.pictures]
    return sum(max(0, size // 3 - _PICTURE_TOKENS) for size in sizes)


def _answer_tokens(answer: Answer) -> int:
    return _tokens(answer.text) + sum(
        _tokens(call.name) + estimate(call.arguments) for call in answer.calls
    )
