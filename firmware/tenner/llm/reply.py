# tenner llm.reply: what a model answered, as plain data that outlives the code that received it.
# MIT license; Copyright (c) 2026 the tenner authors


class Call:
    """
    One tool call as the model wrote it; `arguments_text` should be a JSON object, but may be anything. None: they are too
    long, or it is one call too many, and it is not run.
    """

    def __init__(self, id, name, arguments_text):
        self.id = id
        self.name = name
        self.arguments_text = arguments_text


class Reply:
    """
    A whole answer. `stop` is "stop", "length", "tools" or "refusal"; `estimated` says that the server sent no token
    counts, `body_bytes` how long the request's body was. Of a long text the first `kept` bytes are on flash, where the request
    has said.
    """

    kept = 0

    def __init__(self, text, calls, stop):
        self.text = text
        self.calls = calls
        self.stop = stop
        self.tokens_in = 0
        self.tokens_out = 0
        self.estimated = False
        self.body_bytes = 0
