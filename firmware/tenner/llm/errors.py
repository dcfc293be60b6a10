# tenner llm.errors: the one exception a model call raises.
# MIT license; Copyright (c) 2026 the tenner authors


class LlmError(Exception):
    """
    A model call failed. `cls` is a class of the fallback chain (llm.failure), `sentence` says to a
    person what failed and what to do, `status` is the HTTP status if there was one.
    """

    def __init__(self, cls, sentence, retry_after_s=None, status=None):
        super().__init__(sentence)
        self.cls = cls
        self.sentence = sentence
        self.retry_after_s = retry_after_s
        self.status = status
