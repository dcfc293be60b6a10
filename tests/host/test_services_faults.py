"""Every fault a plan can hold, seen from the client's side of the wire."""

from __future__ import annotations

import json
import re
import ssl
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tenner_sim.services import (
    API_KEY,
    GARBAGE,
    MODEL,
    OK,
    OWNER,
    RESET,
    STALL,
    TOKEN,
    OfflineModel,
    Services,
    Step,
)
from tenner_sim.services.authority import Authority
from tests.host.services_client import Http, Reply

KEY = {"Authorization": f"Bearer {API_KEY}"}
CHAT = "/v1/chat/completions"


@pytest.fixture(scope="module")
def running() -> Iterator[OfflineModel]:
    with OfflineModel() as model:
        yield model


@pytest.fixture
def model(running: OfflineModel) -> Iterator[OfflineModel]:
    yield running
    assert running.plan_left == []


def request(text: str = "say hello", **changes: Any) -> dict[str, Any]:
    return {"model": MODEL, "messages": [{"role": "user", "content": text}], **changes}


def ask(model: OfflineModel, **changes: Any) -> Reply:
    return Http(model.url).post(CHAT, request(**changes), KEY)


def answer(reply: Reply) -> str:
    text: str = reply.json["choices"][0]["message"]["content"]
    return text


def test_an_empty_step_changes_nothing(model: OfflineModel) -> None:
    model.plan([OK])
    assert answer(ask(model)) == "hello"


def test_keep_alive_and_order_of_requests(model: OfflineModel) -> None:
    before = model.connections
    first = len(model.requests)
    with Http(model.url) as http:
        for text in ("one", "two"):
            http.send(CHAT, request(f"say {text}"), KEY)
            assert answer(http.receive()) == text
    assert model.connections == before + 1
    one, two = model.requests[first:]
    assert (one.connection, one.number + 1) == (two.connection, two.number)
    assert one.at <= two.at


@pytest.mark.parametrize("close", ["said", "silent"])
def test_closing_after_the_answer(model: OfflineModel, close: Any) -> None:
    model.plan([Step(close=close)])
    with Http(model.url) as http:
        http.send(CHAT, request(), KEY)
        reply = http.receive()
        assert answer(reply) == "hello"
        assert ("connection" in reply.headers) is (close == "said")
        assert http.receive().ended == "closed"


def test_dropping_idle_connections(model: OfflineModel) -> None:
    with Http(model.url) as http:
        http.send(CHAT, request(), KEY)
        http.receive()
        model.drop_connections()
        assert http.receive().ended == "closed"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, "invalid_request_error"),
        (429, "requests"),
        (500, "server_error"),
        (503, "server_error"),
    ],
)
def test_a_planned_status_is_sent(model: OfflineModel, status: int, kind: str) -> None:
    model.plan([Step(status=status, message="so it is", retry_after_s=7)])
    reply = ask(model)
    assert reply.status == status
    assert reply.json["error"]["message"] == "so it is"
    assert reply.json["error"]["type"] == kind
    assert reply.headers["retry-after"] == "7"


def test_status_with_a_body_of_its_own(model: OfflineModel) -> None:
    model.plan([Step(status=502, body=b"<html>bad gateway</html>", headers=(("X-A", "b"),))])
    reply = ask(model)
    assert (reply.status, reply.body) == (502, b"<html>bad gateway</html>")
    assert reply.headers["x-a"] == "b"


def test_garbage_is_sent_as_planned(model: OfflineModel) -> None:
    model.plan([GARBAGE])
    reply = ask(model)
    assert reply.raw.startswith(b"\x00\xff\x16garbage")
    assert reply.status == 0


def test_garbage_body(model: OfflineModel) -> None:
    model.plan([Step(body=b"\xff{not json")])
    reply = ask(model)
    assert (reply.status, reply.body) == (200, b"\xff{not json")


def test_reset_instead_of_an_answer(model: OfflineModel) -> None:
    model.plan([RESET])
    reply = ask(model)
    assert (reply.raw, reply.ended) == (b"", "reset")
    assert model.requests[-1].status is None


@pytest.mark.parametrize("ending", ["reset", "cut"])
@pytest.mark.parametrize(
    ("where", "after"), [("reply", 5), ("headers", 3), ("body", 0), ("body", 20)]
)
def test_ending_early(model: OfflineModel, ending: str, where: Any, after: int) -> None:
    whole = ask(model).raw
    start = {"reply": 0, "headers": whole.index(b"\r\n") + 2, "body": whole.index(b"\r\n\r\n") + 4}
    resets = ending == "reset"
    model.plan([Step(where=where, reset=after) if resets else Step(where=where, cut=after)])
    reply = ask(model)
    want = whole[: start[where] + after]
    # A reset may overtake the last bytes; a cut never does.
    assert want.startswith(reply.raw) if resets else reply.raw == want
    assert reply.ended == {"reset": "reset", "cut": "closed"}[ending]


@pytest.mark.parametrize("after", [0, 30])
def test_a_reply_stalls_after_so_many_bytes(model: OfflineModel, after: int) -> None:
    model.plan([Step(stall=after)])
    with Http(model.url) as http:
        http.send(CHAT, request(), KEY)
        while len(http.buffer) < after:
            http.buffer += http.sock.recv(100)
        http.sock.settimeout(0.1)
        reply = http.receive()
        assert reply.ended == "silent"
        assert len(reply.raw) == after
    with model.changed:
        assert model.changed.wait_for(lambda: model.open_connections == 0)


def test_stopping_ends_a_stall_and_leaves_no_thread() -> None:
    threads = threading.active_count()
    model = OfflineModel()
    model.start()
    assert threading.active_count() == threads + 1
    model.plan([STALL])
    with Http(model.url) as http:
        http.send(CHAT, request(), KEY)
        model.wait_requests(1)
        model.stop()
        assert http.receive().ended == "reset"
    model.stop()
    assert threading.active_count() == threads


def test_one_byte_writes_and_one_byte_chunks(model: OfflineModel) -> None:
    model.plan([Step(write_bytes=1), Step(chunk_bytes=1)])
    assert answer(ask(model)) == "hello"
    with Http(model.url) as http:
        http.send(CHAT, request(), KEY)
        reply = http.receive()
    assert reply.headers["transfer-encoding"] == "chunked"
    assert answer(reply) == "hello"


def test_body_until_close(model: OfflineModel) -> None:
    model.plan([Step(until_close=True)])
    reply = ask(model)
    assert "content-length" not in reply.headers
    assert answer(reply) == "hello"
    assert reply.ended == "closed"


def test_huge_body_and_header(model: OfflineModel) -> None:
    model.plan([Step(huge_body=300_000), Step(huge_header=9000)])
    reply = ask(model)
    assert len(reply.body) == 300_000
    assert len(reply.json["huge"]) == 300_000 - 11
    assert len(ask(model).headers["x-huge"]) == 9000


def test_delay_lets_the_client_go(model: OfflineModel) -> None:
    model.plan([Step(delay_ms=60_000)])
    # The model is one for all tests here.
    before = len(model.requests)
    with Http(model.url) as http:
        http.send(CHAT, request(), KEY)
        model.wait_requests(before + 1)
    with model.changed:
        assert model.changed.wait_for(lambda: model.open_connections == 0)


# --- streams ---------------------------------------------------------------------------------


def test_stream_as_it_should_be(model: OfflineModel) -> None:
    reply = ask(model, stream=True)
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.body.endswith(b"data: [DONE]\n\n")


def test_crlf_and_comments(model: OfflineModel) -> None:
    model.plan([Step(crlf=True, comments=True, chunk_bytes=3)])
    reply = ask(model, stream=True)
    assert reply.body.startswith(b": keep-alive\r\n\r\ndata: {")
    assert reply.body.count(b"\n") == reply.body.count(b"\r\n")


def test_no_done_and_too_few_events(model: OfflineModel) -> None:
    model.plan([Step(no_done=True), Step(events=2)])
    whole, short = (
        re.sub(rb"chatcmpl-offline[0-9]+", b"", ask(model, stream=True).body) for _ in range(2)
    )
    assert b"[DONE]" not in whole
    assert b'"finish_reason":"stop"' in whole
    assert whole.startswith(short)
    assert short.count(b"\n\n") == 2


def test_error_in_the_middle(model: OfflineModel) -> None:
    model.plan([Step(events=1, error_event="overloaded")])
    blocks = ask(model, stream=True).body.split(b"\n\n")
    assert len(blocks) == 3
    assert json.loads(blocks[1][6:])["error"]["message"] == "overloaded"


def test_plain_answer_to_a_stream(model: OfflineModel) -> None:
    model.plan([Step(plain=True)])
    reply = ask(model, stream=True)
    assert reply.headers["content-type"] == "application/json"
    assert answer(reply) == "hello"


def test_cut_in_the_middle_of_a_stream(model: OfflineModel) -> None:
    model.plan([Step(reset=200, where="body")])
    reply = ask(model, stream=True)
    assert reply.ended == "reset"
    assert len(reply.body) < 200


# --- which request takes which step ------------------------------------------------------------


def test_steps_follow_paths_and_counts(model: OfflineModel) -> None:
    model.plan([Step(path="/models", status=500), Step(path="/chat", status=503, times=2)])
    assert [ask(model).status for _ in range(3)] == [503, 503, 200]
    with Http(model.url) as http:
        http.send("/v1/models", None, KEY, method="GET")
        assert http.receive().status == 500


# --- breaches of HTTP by the client ------------------------------------------------------------


def test_body_shorter_than_its_length(running: OfflineModel) -> None:
    running.body_timeout_s = 0.1
    with Http(running.url) as http:
        http.sock.sendall(
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{}"
        )
        reply = http.receive()
    assert reply.status == 400
    assert "stopped after 2 bytes" in reply.json["error"]["message"]
    running.body_timeout_s = OfflineModel.body_timeout_s


def test_body_longer_than_its_length(running: OfflineModel) -> None:
    with Http(running.url) as http:
        http.sock.sendall(
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}}"
        )
        reply = http.receive()
    assert reply.status == 400
    assert "1 bytes follow the body" in reply.json["error"]["message"]
    assert "1 bytes follow" in running.problems[-1]


def test_no_http_at_all(running: OfflineModel) -> None:
    with Http(running.url) as http:
        http.sock.sendall(b"hello\r\n\r\n")
        assert http.receive().status == 400


def test_invalid_json(running: OfflineModel) -> None:
    reply = Http(running.url).post(CHAT, b'{"model":', KEY)
    assert reply.status == 400
    assert "not a JSON object" in reply.json["error"]["message"]


def test_no_key_and_wrong_place(running: OfflineModel) -> None:
    reply = Http(running.url).post(CHAT, request())
    assert reply.status == 401
    assert "Incorrect API key" in reply.json["error"]["message"]
    assert Http(running.url).post("/v1/chat", request(), KEY).status == 404


# --- TLS ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def tls_client(authority: Authority) -> ssl.SSLContext:
    return authority.client_context()


def test_tls_1_2_and_1_3(authority: Authority) -> None:
    with OfflineModel(tls=authority.server_context()) as model:
        context = tls_client(authority)
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        for client in (context, tls_client(authority)):
            assert Http(model.url, client).post(CHAT, request(), KEY).status == 200
        assert model.tls_versions == ["TLSv1.2", "TLSv1.3"]
        assert model.server_names == ["localhost", "localhost"]


def test_tls_1_3_only(authority: Authority) -> None:
    with OfflineModel(tls=authority.server_context(tls="1.3")) as model:
        context = tls_client(authority)
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with pytest.raises(ssl.SSLError):
            Http(model.url, context)
        assert Http(model.url, tls_client(authority)).post(CHAT, request(), KEY).status == 200


@pytest.mark.parametrize(
    ("certificate", "says"),
    [
        ("wrong-name", "Hostname mismatch"),
        ("expired", "certificate has expired"),
        ("not-yet-valid", "certificate is not yet valid"),
        ("other-ca", "unable to get"),
        ("impostor", "unable to get"),
        ("no-intermediate", "unable to get"),
    ],
)
def test_bad_certificates(authority: Authority, certificate: str, says: str) -> None:
    with OfflineModel(tls=authority.server_context(certificate)) as model:
        context = tls_client(authority)
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with pytest.raises(ssl.SSLCertVerificationError) as caught:
            Http(model.url, context)
        assert says in caught.value.verify_message
        with model.changed:
            assert model.changed.wait_for(lambda: model.tls_failures)
        assert model.requests == []


def test_unknown_certificate_kind(authority: Authority) -> None:
    with pytest.raises(ValueError, match="available: right"):
        authority.issue("odd")


def test_cut_without_close_notify(authority: Authority) -> None:
    with OfflineModel(tls=authority.server_context()) as model:
        model.plan([Step(cut=10, where="body"), Step(close="silent")])
        reply = Http(model.url, tls_client(authority)).post(CHAT, request(), KEY)
        assert (len(reply.body), reply.ended) == (10, "cut")
        with Http(model.url, tls_client(authority)) as http:
            http.send(CHAT, request(), KEY)
            assert http.receive().status == 200
            assert http.receive().ended == "closed"


def test_reset_and_one_byte_records_over_tls(authority: Authority) -> None:
    with OfflineModel(tls=authority.server_context()) as model:
        model.plan([Step(reset=10, where="body"), Step(write_bytes=1)])
        reply = Http(model.url, tls_client(authority)).post(CHAT, request(), KEY)
        assert reply.ended == "reset"
        assert len(reply.body) <= 10
        assert answer(Http(model.url, tls_client(authority)).post(CHAT, request(), KEY)) == "hello"


def test_faults_before_tls(authority: Authority) -> None:
    with OfflineModel(tls=authority.server_context()) as model:
        model.plan([Step(connect="reset"), Step(connect="stall")])
        with pytest.raises(OSError):
            Http(model.url, tls_client(authority))
        plain = Http(model.url)
        plain.sock.settimeout(0.2)
        plain.sock.sendall(b"anything")
        assert plain.receive().ended == "silent"
        plain.sock.close()


# --- both services together ----------------------------------------------------------------------


def test_services_start_and_stop_together() -> None:
    threads = threading.active_count()
    with Services() as services:
        assert services.model.url.startswith("https://localhost:")
        assert services.telegram.url != services.model.url
        assert services.ca_der[:1] == b"\x30"
        assert threading.active_count() == threads + 1
    services.stop()
    assert threading.active_count() == threads


def test_plain_services() -> None:
    with Services(tls=False) as services:
        assert services.ca_der == b""
        path = f"/bot{TOKEN}/sendMessage"
        reply = Http(services.telegram.url).post(path, {"chat_id": OWNER, "text": "hi"})
        assert reply.json["ok"] is True


def test_log_says_that_it_is_a_stand_in() -> None:
    lines: list[str] = []
    with OfflineModel(log=lines.append) as model:
        ask(model)
    assert "offline stand-in" in lines[0]
    assert any("offline stand-in" in line and "hello" in line for line in lines[1:])
