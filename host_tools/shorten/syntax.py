"""Reading a module's syntax, and replacing pieces of it where they stand."""

from __future__ import annotations

import ast
import io
import tokenize
from concurrent.futures import ThreadPoolExecutor

#: (line, column in bytes) of a name to (what stands there, what shall).
Edits = dict[tuple[int, int], tuple[str, str]]


class ShortenError(Exception):
    """A module cannot be changed safely, or does not compile; the text says where."""


def parsed(source: bytes, name: str) -> ast.Module:
    """The syntax tree of the module `name`."""
    for _ in range(20):
        try:
            # In a thread of its own: CPython before 3.12 miscounts the depth of what is being parsed (its
            # issue 106905) when another parser runs, or a test tool moves the recursion limit.
            with ThreadPoolExecutor(1) as fresh:
                return fresh.submit(ast.parse, source).result()
        except (SystemError, RecursionError):
            continue
        except SyntaxError as exc:
            raise ShortenError(f"{name} does not compile: line {exc.lineno}: {exc.msg}") from exc
    raise ShortenError(f"{name}: the parser failed 20 times in a row: build again")


def edited(source: bytes, edits: Edits) -> bytes:
    """`source` with names replaced; its lines stay where they are."""
    lines = source.splitlines(keepends=True)
    # From the end, so that the columns of what comes before stay right.
    for (row, column), (old, new) in sorted(edits.items(), reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + new.encode() + line[column + len(old.encode()) :]
    return b"".join(lines)


def tokens(source: bytes) -> list[tokenize.TokenInfo]:
    """The tokens of a module."""
    try:
        return list(tokenize.tokenize(io.BytesIO(source).readline))
    except (tokenize.TokenError, SyntaxError) as exc:
        raise ShortenError(f"this is not Python: {exc}: {source[:60]!r} ...") from exc


def names_of(source: bytes) -> list[str]:
    """Every name that stands in a module, once, in the order of their first places."""
    return list(dict.fromkeys(t.string for t in tokens(source) if t.type == tokenize.NAME))


def renamed(source: bytes, short: dict[str, str]) -> bytes:
    """The module with each name of `short` replaced wherever it stands as a name."""
    lines = source.decode().splitlines(keepends=True)
    # From the end, so that the columns of what comes before stay right.
    for token in reversed(tokens(source)):
        if token.type == tokenize.NAME and token.string in short:
            row, column = token.start[0] - 1, token.start[1]
            line = lines[row]
            lines[row] = line[:column] + short[token.string] + line[column + len(token.string) :]
    return "".join(lines).encode()
