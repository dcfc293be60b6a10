# tenner llm.overflow: finds a model's token limit in its error for a too long request.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const

# The number follows one of these; the clearest come first.
_BEFORE = const(
    "model with|n_ctx|context length|context size|context window|allowed|limit|maximum| > "
)
_NEAR = const(80)
_LEAST = const(256)


def context_tokens(text: str) -> int:
    """Return the maximum number of tokens that an error names, 0 when it names none."""
    text = text.lower()
    for words in _BEFORE.split("|"):
        start = text.find(words)
        if start >= 0:
            found = _number(text[start + len(words) :][:_NEAR])
            if found >= _LEAST:
                return found
    return 0


def _number(text):
    digits = ""
    for char in text:
        if char.isdigit():
            digits += char
        elif digits and char not in ",_":
            break
    return int(digits or "0")
