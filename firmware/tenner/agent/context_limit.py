# tenner agent.context_limit: reduces requests to the context of a model, and remembers its size.
# MIT license; Copyright (c) 2026 the tenner authors
"""
History is cut first, then old results of the turn's own tools, then the prompt's files; tools and
rules stay. A model that has rejected a request as too long has a row in state/context.json: [bytes
of a request that may fit, tokens of a reply or 0 for the setting]. All of this runs in phase
REQUEST.
"""

import json

from tenner.agent import context, history
from tenner.agent.errors import Stopped
from tenner.agent.history_lines import shorten
from tenner.log import log
from tenner.port.compat import const
from tenner.store import files, json_strict, quarantine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.types import Sized
    from tenner.llm.errors import LlmError
    from tenner.llm.types import Request

_MODELS = const(8)
_FILE_BYTES = const(4096)
_TOKEN_BYTES = const(4)  # within a third for most languages and models
_OVERHEAD = const(512)  # JSON around the parts of a request
_LEAST_WINDOW = const(256)
_FILE_LIMITS = (2048, 1024, 512, 256, 128, 0)


async def fit(turn: "Sized") -> None:
    """Reduce the request to the known context of the model, before the model call."""
    get = turn.agent.config.get
    allowed = (get("llm.context_tokens") - get("llm.max_tokens")) * _TOKEN_BYTES
    rows = _load(turn.agent)
    if rows:
        model = "%s at %s" % (turn.model or get("llm.model"), get("llm.base_url"))
        known, tokens = rows.get(model, (allowed, 0))
        allowed = min(allowed, known)
        turn.max_tokens = tokens or None
    _reduce(turn, allowed - _OVERHEAD)


async def shrink(turn: "Sized", request: "Request", error: "LlmError") -> None:
    """
    Make the request smaller than the one rejected with `error`. Raise Stopped when nothing can be
    left out, or for another kind of error.
    """
    if error.kind != "context_overflow":
        stopped = Stopped(str(error))
        stopped.outage = error.kind != "format"
        raise stopped
    before = _size(turn)
    model, body_bytes, tokens = error.sent or ("", 0, 0)
    allowed = max(body_bytes, before) * 3 // 4
    most = request.max_tokens
    if tokens and most > tokens // 4:
        # The context holds the reply, too.
        turn.max_tokens = request.max_tokens = most = tokens // 4
    if tokens > most:
        allowed = min(allowed, (tokens - most) * _TOKEN_BYTES)
    _reduce(turn, allowed - max(body_bytes - before, 0))
    after = _size(turn)
    if after >= before:
        raise Stopped(
            (
                "I stopped: %s. There is no history left to leave out: write /new to start over, "
                "or something shorter."
            )
            % error
        )
    log("turn", "too long for the model: %d of %d bytes are left out" % (before - after, before))
    if model:
        _remember(turn, model, allowed)


def _reduce(turn, allowed):
    """Cut results, files and history to `allowed` bytes, as far as possible."""
    lines = turn.lines
    fixed = _fixed(turn)
    for place, line in enumerate(lines):
        if fixed <= allowed:
            break
        lines[place] = shorten(line)
        fixed -= len(line) - len(lines[place])
    for limit in _FILE_LIMITS:
        if fixed <= allowed:
            break
        turn.file_limit = limit
        fixed = _fixed(turn)
    left = max(allowed - fixed, _LEAST_WINDOW)
    session = turn.session
    if session is None:
        return
    if turn.span is not None:
        start, end = turn.span
        if end - start > left:
            turn.span = history.turn_after(session.path, end - left), end
    elif left < max(session.most, session.window):
        session.window = min(left, session.window)
        session.most = left
        history.check(session)


def _fixed(turn):
    """Return the bytes of prompt, tools and this turn's own lines."""
    size = sum([len(piece) for piece in context.system(turn.agent, turn)])
    for _, *parts in turn.tools:
        while parts:
            size += parts.pop() - parts.pop()
    return size + turn.spooled + (turn.tails or 0) + sum([len(line) for line in turn.lines])


def _size(turn):
    """Return the approximate size of a request in bytes."""
    size = _fixed(turn)
    session = turn.session
    if session is None:
        return size
    start, end = turn.span or (session.start, session.size)
    return size + end - max(start, 0) + (session.summary_end if start > session.summary_end else 0)


def _path(agent):
    return agent.port.path("state/context.json")


def _load(agent):
    """Return the rows of the models, by their names."""
    path = _path(agent)
    if files.size(path) > 0:
        try:
            rows = json_strict.loads(files.read_text(path, _FILE_BYTES))
            if all(len(rows[model]) == 2 and sum(rows[model]) > 0 for model in dict(rows)):
                return rows
            raise ValueError("has no rows of two numbers")
        except (ValueError, TypeError) as error:
            log("turn", "%s: %s; kept as %s" % (path, error, quarantine.quarantine(path)))
    return {}


def _remember(turn, model, allowed):
    rows = _load(turn.agent)
    if model not in rows and len(rows) >= _MODELS:
        rows = {}
    rows[model] = [allowed, turn.max_tokens or 0]
    try:
        files.write_atomic(_path(turn.agent), json.dumps(rows))
    except OSError as error:
        log("turn", "the context of a model could not be stored: %s" % error)
