# tenner tests: the answers of Brave, Tavily and SearXNG, refusals included, for web_search.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Each service is a function of a request's head and body that returns (status, body). They refuse
the same requests as the real ones. Formats: api-dashboard.search.brave.com,
docs.tavily.com/documentation/api-reference, docs.searxng.org/dev/search_api.
"""

import json

KEY = "key-of-the-test"
RESULTS = (
    ("Pressure at sea level", "https://example.com/a?b=1&c=2", "1013 hPa, a mean."),
    ("Quotes &quot;and&#x27; more", "https://example.com/b", "Two\n lines  of text"),
    ("Ümlaut", "https://example.org/ü", ""),
)


def _unquoted(text):
    """Return text with %XX decoded; ValueError for characters that a query must escape."""
    data = bytearray()
    at = 0
    while at < len(text):
        byte = ord(text[at])
        if byte == 37:
            byte = int(text[at + 1 : at + 3], 16)
            at += 2
        elif not 33 <= byte <= 126 or text[at] in '"<>^`{|}&#+':
            raise ValueError(text)
        data.append(byte)
        at += 1
    return bytes(data).decode()


def parts(head):
    """Return (method, path, parameters, headers) of a request."""
    lines = head.decode().split("\r\n")
    method, target, _ = lines[0].split(" ")
    path, _, query = target.partition("?")
    parameters = {}
    for pair in query.split("&") if query else ():
        name, _, value = pair.partition("=")
        parameters[_unquoted(name)] = _unquoted(value)
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(": ")
        headers[name.lower()] = value
    return method, path, parameters, headers


def _page(results, names):
    return [dict(zip(names, result)) for result in results]


def brave(head, body, results=RESULTS):
    method, path, given, headers = parts(head)
    token = headers.get("x-subscription-token")

    def refusal(code, detail):
        error = {"id": "1", "status": 422, "code": code, "detail": detail}
        return 422, json.dumps({"type": "ErrorResponse", "error": error, "time": 0})

    if path != "/res/v1/web/search" or method != "GET":
        return 404, "{}"
    if token != KEY:
        return refusal("SUBSCRIPTION_TOKEN_INVALID", "The provided token is invalid.")
    query = given.get("q", "")
    count = given.get("count", "20")
    if not 1 <= len(query) <= 400 or len(query.split()) > 50:
        return refusal("VALIDATION", "q: 1 to 400 characters and at most 50 words")
    if not count.isdigit() or not 1 <= int(count) <= 20:
        return refusal("VALIDATION", "count: 1 to 20")
    if given.get("text_decorations", "true") not in ("true", "false", "1", "0"):
        return refusal("VALIDATION", "text_decorations: true or false")
    names = ("title", "url", "description")
    found = _page(results[: int(count)], names)
    for number, result in enumerate(found):
        # Much more comes with each; names that mean something else further down.
        result["profile"] = {"name": "x", "url": "https://wrong.example", "title": "wrong"}
        result["language"] = "en"
        result["deep_results"] = {"buttons": [{"title": "wrong", "url": "https://wrong.example"}]}
        result["is_source_local"] = number == 0
    reply = {
        "type": "search",
        "query": {"original": query, "title": "wrong"},
        "mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": False}]},
        "videos": {"type": "videos", "results": [{"title": "wrong", "url": "https://v.example"}]},
        "web": {"type": "search", "results": found, "family_friendly": True},
    }
    return 200, json.dumps(reply)


def tavily(head, body, results=RESULTS):
    method, path, given, headers = parts(head)

    def refusal(status, text):
        return status, json.dumps({"detail": {"error": text}})

    if path != "/search":
        return 404, json.dumps({"detail": "Not Found"})
    if method != "POST":
        return 405, json.dumps({"detail": "Method Not Allowed"})
    if headers.get("authorization") != "Bearer " + KEY:
        return refusal(401, "Unauthorized: missing or invalid API key.")
    if headers.get("content-type") != "application/json":
        return 422, json.dumps({"detail": [{"type": "model_attributes_type"}]})
    try:
        asked = json.loads(body)
    except ValueError:
        return 422, json.dumps({"detail": [{"type": "json_invalid"}]})
    query = asked.get("query")
    most = asked.get("max_results", 5)
    if not isinstance(query, str) or not query:
        return refusal(400, "Query is missing.")
    if len(query) > 400:
        return refusal(400, "Query is too long. Max query length is 400 characters.")
    if not isinstance(most, int) or not 0 <= most <= 20:
        return refusal(400, "Invalid max results.")
    found = _page(results[:most], ("title", "url", "content"))
    for result in found:
        result["score"] = 0.98
        result["raw_content"] = None
    reply = {"query": query, "answer": None, "images": [], "results": found, "response_time": 1.1}
    return 200, json.dumps(reply)


def searxng(head, body, results=RESULTS, formats=("html", "json")):
    method, path, given, headers = parts(head)
    if path != "/search" or method != "GET":
        return 404, "<!doctype html><title>Page not found</title>"
    if given.get("format", "html") not in formats:
        return 403, "<!doctype html><title>403 Forbidden</title>"
    if not given.get("q"):
        return 400, json.dumps({"error": "No query"})
    if given.get("format") != "json":
        return 200, "<!doctype html><p>results for people"
    found = _page(results, ("title", "url", "content"))
    for result in found:
        result["engines"] = ["a", "b"]
        result["parsed_url"] = ["https", "example.com", "/", "", "", ""]
        result["publishedDate"] = None
    reply = {
        "query": given["q"],
        "number_of_results": 0,
        "results": found,
        "answers": [],
        "infoboxes": [{"infobox": "x", "content": "wrong", "urls": [{"title": "wrong"}]}],
        "suggestions": [],
        "unresponsive_engines": [["c", "timeout"]],
    }
    return 200, json.dumps(reply)
