"""Refusals of a model's API: the key, the model, the length; and the bodies of errors in both wire
formats."""

from __future__ import annotations

from typing import Any

#: The type of an error for each status, as Anthropic documents them.
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
#: Type and code for each status, as OpenAI documents them.
_KINDS: dict[int, tuple[str, str | None]] = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    402: ("insufficient_quota", "insufficient_quota"),
    403: ("invalid_request_error", None),
    404: ("invalid_request_error", "model_not_found"),
    405: ("invalid_request_error", "method_not_supported"),
    413: ("invalid_request_error", None),
    429: ("requests", "rate_limit_exceeded"),
}
_VERSIONS = ("2023-06-01", "2023-01-01")


class Refusal(Exception):
    """A request that the API refuses."""

    def __init__(
        self, message: str, status: int = 400, *, param: str | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.param = param
        self.code = code

    def chat_body(self) -> dict[str, Any]:
        """The error as chat completions tell it."""
        kind, code = _KINDS.get(self.status, ("server_error", None))
        return {
            "error": {
                "message": self.message,
                "type": kind,
                "param": self.param,
                "code": self.code or code,
            }
        }

    def messages_body(self) -> dict[str, Any]:
        """The error as the messages API tells it."""
        return {
            "type": "error",
            "error": {"type": _TYPES.get(self.status, "api_error"), "message": self.message},
            "request_id": "req_offline",
        }


def check_bearer(headers: dict[str, str], api_key: str) -> None:
    """Refuse a missing or wrong key of chat completions; "": a service without keys."""
    if not api_key:
        return
    scheme, _, key = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or key.strip() != api_key:
        raise Refusal(f"Incorrect API key provided: {key[:3]}***.", 401)


def check_headers(headers: dict[str, str], api_key: str) -> None:
    """Refuse a missing or wrong key or version of the messages API."""
    if headers.get("x-api-key") != api_key:
        raise Refusal("invalid x-api-key", 401)
    version = headers.get("anthropic-version")
    if version not in _VERSIONS:
        raise Refusal(f'anthropic-version: "{version}" is not a valid version')


def check_outline(body: Any, models: tuple[str, ...], max_tokens: int) -> None:
    """Refuse what a stand-in cannot answer: no object, no messages, a model it has not, too long
    an answer."""
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
        raise Refusal("The body is not a JSON object with a list of 'messages'.", param="messages")
    for name in ("max_tokens", "max_completion_tokens"):
        limit = body.get(name)
        if isinstance(limit, int) and limit > max_tokens:
            raise Refusal(
                f"{name} is too large: {limit}. This model supports at most {max_tokens}.",
                param=name,
            )
    if body.get("model") not in models:
        raise Refusal(f"The model `{body.get('model')}` does not exist.", 404)
