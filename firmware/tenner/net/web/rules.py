# tenner net.web.rules: matches addresses against the owner's rules, part by part.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.net.url import parse_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def straight(url: str) -> str:
    """
    Return the URL to request: the host in lower case, the path without `.` and `..` in any
    spelling, no fragment. Raise ValueError for one that a server might read differently from a
    rule.
    """
    (secure, host, port), path = parse_url(url)
    path, mark, query = path.partition("?")
    path = path.replace("%2e", ".").replace("%2E", ".").replace("\\", "%5C")
    parts = []
    for part in path.split("/")[1:]:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    if path.rsplit("/", 1)[-1] in (".", ".."):
        parts.append("")
    path = "/" + "/".join(parts)
    if ".." in _decoded(path).replace("\\", "/").split("/"):
        raise ValueError("a path with hidden dots: " + url.split("@")[-1][:80])
    if ":" in host:
        host = "[" + host + "]"
    if port != (443 if secure else 80):
        host += ":%d" % port
    return ("https://" if secure else "http://") + host + path + mark + query


def covers(rule: str, url: str, matches: "Callable[[str, str], bool]") -> bool:
    """
    Return whether a rule such as `https://*.example.com/docs/**` covers this URL, a result of
    `straight`. `matches(pattern, text)` compares the hosts, and the paths with their queries. A
    rule without a path covers the host's first page.
    """
    scheme, there, rest = rule.partition("://")
    if not there:
        return rule == "**"
    (secure, host, port), path = parse_url(url)
    name, slash, rule_path = rest.partition("/")
    if not slash and name[-2:] == "**":
        # https://** and https://example.com**
        name, rule_path = name[:-2] or "*", "**"
    number = "443" if secure else "80"
    if name.rfind(":") > name.rfind("]"):
        name, _, number = name.rpartition(":")
    return (
        scheme.lower() == ("https" if secure else "http")
        and number in ("*", str(port))
        and matches(name.strip("[]").lower(), host)
        and (matches("/" + rule_path, path) if slash or rule_path else path == "/")
    )


def _decoded(text):
    """Return a path as read by a server that decodes it several times."""
    for _ in range(3):
        parts = text.split("%")
        text = parts[0]
        for part in parts[1:]:
            try:
                text += chr(int(part[:2], 16)) + part[2:]
            except ValueError:
                text += "%" + part
    return text
