"""Ask an owner's own model server for the size of its context in tokens.

Such servers often allow only 4,096. Ollama silently drops the beginning of a longer request, so no
refusal would reveal the limit.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from tenner_host.board.board import Board
from tenner_host.board.probe import ProbeError, fetch
from tenner_host.setup.providers import by_url
from tenner_host.setup.settings import Settings, get, least, put

KEY = "llm.context_tokens"
#: (path behind the address without its version, the field). The first answer wins: the loaded
#: context comes before the model's maximum.
_TELLS = [
    # vLLM
    ("/v1/models", "max_model_len"),
    # llama.cpp: tools/server/README.md, GET /props
    ("/props", "n_ctx"),
    # Ollama lists loaded models; this one has just answered.
    ("/api/ps", "context_length"),
    # LM Studio
    ("/api/v0/models/{model}", "loaded_context_length"),
]


def context_tokens(board: Board, settings: Settings) -> int:
    """The server's context in tokens; 0 if it does not report one, or belongs to a public
    provider."""
    base = str(get(settings, "llm.base_url")).rstrip("/")
    known = by_url(base)
    if known and known.keys:
        return 0
    model = str(get(settings, "llm.model"))
    key = str(get(settings, "llm.api_key"))
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    for path, field in _TELLS:
        url = base.removesuffix("/v1") + path.format(model=quote(model, safe=""))
        try:
            answer = fetch(board, url, headers=headers)
        except ProbeError:
            return 0
        if answer.status == 200:
            found = _number(answer.body.decode(errors="replace"), model, field)
            if found:
                return found
    return 0


def excess(board: Board, settings: Settings) -> tuple[int, int] | None:
    """(The server's context, the setting that fits it) if the present setting is larger; else
    None."""
    told = context_tokens(board, settings)
    if 0 < told < int(get(settings, KEY)):
        return told, max(told, least(KEY))
    return None


def fit(board: Board, settings: Settings) -> str:
    """Lower the setting to the server's context; return a sentence about it, or "" without a
    change."""
    found = excess(board, settings)
    if found is None:
        return ""
    told, setting = found
    put(settings, KEY, setting)
    if told < setting:
        return f"its context of {told} tokens is too small for an agent: give it 4,096 or more"
    return f"its context is {told} tokens: {KEY} is set to that"


def _number(text: str, model: str, field: str) -> int:
    """The field that follows the model's name, or the first one; the text may be cut off, so it is
    not parsed."""
    start = max(text.find(f'"{model}'), 0)
    found = re.compile(rf'"{field}"\s*:\s*(\d+)').search(text, start)
    return int(found[1]) if found else 0
