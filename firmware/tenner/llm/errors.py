# tenner llm.errors: the error of a failed model call.
# MIT license; Copyright (c) 2026 the tenner authors


class LlmError(Exception):
    """
    A model call failed. `kind` is the result of llm.failure.classify, or "refused"; the text tells
    a person the failure and the remedy; `status` is the HTTP status or None. `retry_after_s` is
    the server's Retry-After; 0 with a timeout: the model needs no cooldown. `sent`, for a request
    that was too long: the model, the bytes of the body, and the tokens that fit, or 0 if unknown.
    `words` are the server's, if it may accept the request in another form (llm.quirks).
    """

    sent = None
    words = ""

    def __init__(
        self,
        kind: str,
        sentence: str,
        retry_after_s: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.retry_after_s = retry_after_s
        self.status = status
