# tenner llm.errors: how a model call fails.
# MIT license; Copyright (c) 2026 the tenner authors


class LlmError(Exception):
    """
    A model call failed. `kind` is a row of the fallback chain's table (llm.failure), the text says to a
    person what failed and what to do, `status` is the HTTP status if there was one. `retry_after_s`: how
    long the server wants to be left alone; 0 of a timeout: the model need not cool down. `sent`: of a request that was too long,
    the model, the bytes of the body, and the tokens that fit, 0 where that is not known.
    """

    sent = None

    def __init__(self, kind, sentence, retry_after_s=None, status=None):
        super().__init__(sentence)
        self.kind = kind
        self.retry_after_s = retry_after_s
        self.status = status
