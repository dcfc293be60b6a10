"""Guests of a page, who look only: the same checks for each server of it."""

import json

from tenner_host.web.api import openapi_document

DOCUMENT = json.loads(openapi_document())

#: A guest may pair as an owner, and end the own session.
_ALLOWED = {("POST", "/pair"), ("DELETE", "/session")}


def operations():
    """Every operation of the document, as (method, path, does it change something?)."""
    for path, known in DOCUMENT["paths"].items():
        for method in known:
            name = method.upper()
            yield name, path, name != "GET" and (name, path) not in _ALLOWED


def check_guest(guest, owner, views=True):
    """A guest sees the views of the owner and does nothing; both are clients. `views`: are the
    answers to GET compared too?"""
    assert guest("GET", "/session").json["guest"] is True
    assert owner("GET", "/session").json["guest"] is False
    refused = 0
    for method, path, changes in operations():
        if changes:
            # A wrong body would be 400, had anybody looked at it.
            for body in ({}, b"{", {"text": "say: hello", "yes": True, "changes": {"name": "x"}}):
                answer = guest(method, path, body)
                assert answer.status == 403, (method, path, answer.body)
                assert set(answer.json) == {"error"} and "only look" in answer.json["error"]
            refused += 1
        elif method == "GET" and views and path not in ("/events", "/openapi.json"):
            answers = guest(method, path), owner(method, path)
            assert answers[0].status == answers[1].status, (path, answers[0].body)
    assert refused >= 10
    assert guest("GET", "/log").json["lines"] == []
