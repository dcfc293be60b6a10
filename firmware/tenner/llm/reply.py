# tenner llm.reply: a model's answer, as plain data that outlives the code that received it.
# MIT license; Copyright (c) 2026 the tenner authors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Call:
    """
    One tool call as the model wrote it. `arguments_text` should be a JSON object, but may be any
    text; None if it was too long, or there were too many calls: the call does not run.
    """

    #: The number of its part of `Reply.tails`.
    extra: int | None = None

    def __init__(self, id: str, name: str, arguments_text: str | None) -> None:
        self.id = id
        self.name = name
        self.arguments_text = arguments_text


class Reply:
    """
    A complete answer. `stop` is "stop", "length", "tools" or "refusal"; `estimated`: the server
    sent no token counts; `body_bytes` is the length of the request's body. The first `kept` bytes
    of a long text are in the request's file `keep_at`.
    """

    kept = 0
    #: A long text in blocks, instead of `text`, until they are joined (agent.tool_calls).
    blocks: "Sequence[str]" = ()
    #: The parts that the server wants back (llm.tail): bytes, or places in the file `tail_at` of
    #: the request. Then the new end of that file, and the tag of the model (llm.records).
    tails: "dict | tuple[()]" = ()
    tail_end = 0
    model = b""

    def __init__(self, text: str, calls: list[Call], stop: str) -> None:
        self.text = text
        self.calls = calls
        self.stop = stop
        self.tokens_in = 0
        self.tokens_out = 0
        self.estimated = False
        self.body_bytes = 0
