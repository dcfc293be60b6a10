# tenner llm.quirks: learns from a model's refusals how its requests have to differ.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Servers refuse a field that others require, in words that name it. The request is sent again
without it, and if that works the file remembers it: a line `tag letters` for each model, with a
letter for each quirk:

    m  the limit has the other name, max_tokens or max_completion_tokens
    l  no limit at all                  o  no stream_options
    i  ids of calls have nine letters   c  no cache_control
    r  reasoning that is not known is empty, not absent
    g  a signature that is not known has the documented stand-in
    n  reasoning and other fields of a reply are not accepted back
"""

from tenner.llm.records import model_tag
from tenner.log import log
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.llm.errors import LlmError
    from tenner.llm.types import Candidate, Request

_LETTERS = const("mloicrgn")
_MODELS = const(16)
_FILE_BYTES = const(512)

_REFUSED = const(
    "unsupported|n't support|not supported|unrecognized|unknown|unexpected|not permitted"
    "|not allowed|extra_f|extra input|additional properties|forbidden|not accept"
    "|does not support|instead|invalid `signature`"
)
# A limit of the wrong size is a setting's fault.
_SIZE = const("too large|at most|maximum|exceed|less than|greater than|between")

# The number follows one of these; the clearest come first.
_BEFORE = const(
    "model with|n_ctx|context length|context size|context window|allowed|limit|maximum| > "
)
_NEAR = const(80)
_LEAST = const(256)


def known(path: str, candidate: "Candidate") -> str:
    """Return the letters of a model that `path` remembers."""
    return _load(path).get(model_tag(candidate), "")


def learn(candidate: "Candidate", request: "Request", error: "LlmError") -> bool:
    """Add a quirk that the words of a refusal tell to `request.quirks`; return False if they tell
    none."""
    letter = _letter(error.words.lower(), candidate.api, request.quirks)
    if not letter:
        return False
    log("llm", "%s; retry in another form (%s)" % (error, letter))
    if letter == "n":
        request.quirks = request.quirks.replace("r", "")
    request.quirks += letter
    return True


def remember(path: str, candidate: "Candidate", letters: str) -> None:
    """Keep the letters of a model that has answered."""
    rows = _load(path)
    rows.pop(model_tag(candidate), None)
    if len(rows) >= _MODELS:
        rows = {}
    rows[model_tag(candidate)] = letters
    text = "".join(["%s %s\n" % (str(tag, "utf-8"), rows[tag]) for tag in rows])
    try:
        files.write_atomic(path, text)
    except OSError as error:
        log("llm", "the form of requests could not be stored: %s" % error)


def _load(path):
    rows = {}
    try:
        for line in files.read_text(path, _FILE_BYTES).split("\n"):
            tag, _, letters = line.partition(" ")
            if tag and letters and not letters.strip(_LETTERS):
                rows[tag.encode()] = letters
    except (OSError, ValueError) as error:
        log("llm", "%s: %s" % (path, error))
    return rows


def _letter(words, api, have):
    """Return the letter of a quirk that the request has not yet, or ""."""
    found = ""
    refused = _has(words, _REFUSED)
    if _has(words, "thought_signature|thought signature|thoughtsignature"):
        found = "g"
    elif _has(words, "reasoning|thinking|extra_content"):
        wanted = _has(words, "passed back|missing|must start with")
        found = "r" if wanted and "r" not in have else "n" if refused or "r" in have else ""
    elif _has(words, "stream_options|include_usage"):
        found = "o"
    elif "max_completion_tokens" in words or "max_tokens" in words:
        if api == "chat" and refused and not _has(words, _SIZE):
            found = "l" if "m" in have else "m"
    elif "cache_control" in words:
        found = "c"
    elif "call" in words and _names_id(words):
        found = "i"
    return "" if found in have else found


def _names_id(words):
    for mark in "\"'`.:,[]()":
        words = words.replace(mark, " ")
    return _has(" %s " % words, " id | ids |call_id")


def _has(words, parts):
    return any(part in words for part in parts.split("|"))


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
