# tenner mcp.headers: sends arguments of an MCP request as headers, too.
# MIT license; Copyright (c) 2026 the tenner authors

from binascii import b2a_base64


def values(paths: dict[str, list[str]], args: dict) -> list[tuple[str, str]]:
    """Return the headers for the arguments that the server also wants as headers."""
    result = []
    for name in sorted(paths):
        value = args
        for key in paths[name]:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            if isinstance(value, bool):
                value = "true" if value else "false"
            result.append(("Mcp-Param-" + name, encoded(str(value))))
    return result


def encoded(value: str) -> str:
    """Return a text as the value of a header: unchanged where a header can hold it, else in
    base64."""
    if is_plain(value):
        return value
    return "=?base64?%s?=" % b2a_base64(value.encode()).decode().strip()


def is_plain(value: str) -> bool | str:
    """Return whether a header can hold this text unchanged."""
    return (
        value
        and value == value.strip()
        and " " <= min(value) <= max(value) <= "~"
        and not value.startswith("=?base64?")
    )


def wanted(schema: dict) -> dict[str, tuple]:
    """Return {header: path} of the arguments that also go into headers; ValueError for an invalid
    schema."""
    result = {}
    _collect(schema, (), True, result)
    return result


def _collect(spec, path, reachable, result):
    if isinstance(spec, list):
        for entry in spec:
            _collect(entry, path, False, result)
    if not isinstance(spec, dict):
        return
    header = spec.get("x-mcp-header")
    if header is not None and not isinstance(header, dict):
        known = [name.lower() for name in result]
        if (
            not reachable
            or not path
            or spec.get("type") not in ("string", "integer", "boolean")
            or not _is_token(header)
            or header.lower() in known
        ):
            raise ValueError("its x-mcp-header %s is not right" % header)
        result[header] = path
    for key in spec:
        inner = spec[key]
        if key == "properties" and isinstance(inner, dict):
            for name in inner:
                _collect(inner[name], path + (name,), reachable, result)
        elif key not in ("enum", "const", "default", "examples"):
            _collect(inner, path, False, result)


def _is_token(text):
    return (
        isinstance(text, str)
        and text
        and all(c in "!#$%&'*+-.^_`|~0123456789" or "a" <= c.lower() <= "z" for c in text)
    )
