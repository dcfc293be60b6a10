# tenner agent.cut_off: an answer that stops at the length limit is gone on with once, and its parts are joined.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const

_GO_ON = const(
    "Your answer was cut off at the length limit. The part so far is kept: go on from there, beginning with the last "
    "word you wrote. Repeat nothing else, and keep it short."
)
_CUT_AGAIN = const("(cut off at the length limit, llm.max_tokens)")
_REST_FAILED = const("(cut off at the length limit; the rest did not come: %s)")
# From here on (Chinese, Japanese and others) no space stands between words.
_SPACELESS = const("\u2e80")


def take(turn, text, stop):
    """Return the whole answer, its last part being `text`; None when the model is to go on with it."""
    if turn.begun is None:
        turn.begun = text
        if not text:
            turn.add("a", "(nothing)")
        turn.add("n", _GO_ON)
        return None
    text = _joined(turn.begun, text)
    return text if stop != "length" else _with_note(text, _CUT_AGAIN)


def unfinished(turn, reason):
    """Return what there is of an answer whose rest did not come, and why."""
    note = _REST_FAILED % reason
    turn.add("a", note)
    return _with_note(turn.begun, note)


def _with_note(text, note):
    return text + "\n\n" + note if text else note


def _joined(head, text):
    """Join two parts, the second of which may begin with the last word of the first, whole or not."""
    if not head or not text:
        return head or text
    last = head.split()[-1] if head[-1:].strip() else ""
    if last and text.startswith(last):
        return head[: len(head) - len(last)] + text
    # Models seldom begin with the space that was next.
    between = ""
    if last and head[-1] < _SPACELESS and text[0].strip() and text[0] < _SPACELESS:
        between = " "
    return head + between + text
