# tenner llm.overflow: how many tokens fit a model, by the words in which it refuses a request as too long.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const

# The number follows one of these; those that say it most clearly come first.
_BEFORE = const(
    "model with|n_ctx|context length|context size|context window|allowed|limit|maximum| > "
)
_NEAR = const(80)
_LEAST = const(256)


def context_tokens(text):
    """Return the number of tokens that a refusal calls the most, 0 when it names none."""
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
