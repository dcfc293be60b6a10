"""nginx before the Telegram emulator: TLS, connections that are kept, and refusals of its own, in
HTML."""

import re

import pytest

from tenner_sim.services.authority import Authority
from tests.ports import free_port
from tests.services.agent import INTERPRETERS, Agent, find
from tests.services.kit import need, program, running
from tests.services.on_telegram import OWNER, TOKEN, emulating

CONF = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{}}
http {{
    log_format seen '$connection $connection_requests $server_protocol $ssl_protocol $status $uri';
    access_log {folder}/access.log seen;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {http}
    server {{
        listen 127.0.0.1:{port} ssl{listen};
        server_name localhost;
        ssl_certificate {folder}/chain.pem;
        ssl_certificate_key {folder}/key.pem;
        {server}
        location / {{
            proxy_pass http://127.0.0.1:{behind};
            {location}
        }}
    }}
}}
"""


class Proxy:
    """nginx in front of a port; `lines` are those of CONF that a test wants otherwise."""

    def __init__(self, folder, authority, certificate="right", **lines):
        folder.mkdir()
        self.port = free_port()
        self.behind = free_port()
        self._folder = folder
        self._authority = authority
        self.certify(certificate)
        self.set(**lines)

    def certify(self, certificate):
        """The kind of certificate it has when it is next started."""
        leaf = self._authority.issue(certificate)
        chain = b"".join(pem.bytes() for pem in leaf.cert_chain_pems)
        (self._folder / "chain.pem").write_bytes(chain)
        leaf.private_key_pem.write_to_path(str(self._folder / "key.pem"))

    def set(self, **lines):
        """Set its behavior from the next start on."""
        text = {"http": "", "listen": "", "server": "", "location": "", **lines}
        (self._folder / "nginx.conf").write_text(
            CONF.format(folder=self._folder, port=self.port, behind=self.behind, **text)
        )

    def running(self):
        command = [need(program, "nginx"), "-p", self._folder, "-c", self._folder / "nginx.conf"]
        return running([str(word) for word in command], self.port, self._folder)

    def seen(self, ending=""):
        """Each request: (connection, how many there were on it, protocol, TLS, status), of paths
        with this end."""
        log = self._folder / "access.log"
        rows = (
            [line.split(" ", 5) for line in log.read_text().splitlines()] if log.exists() else []
        )
        return [
            (int(row[0]), int(row[1]), *row[2:4], int(row[4]))
            for row in rows
            if row[5].endswith(ending)
        ]


@pytest.fixture(params=INTERPRETERS, scope="module")
def python(request):
    return find(request.param)


@pytest.fixture
def authority():
    return Authority()


@pytest.fixture
def agent(tmp_path, python, authority):
    root = tmp_path / "agent"
    root.mkdir()
    made = Agent(root, python)
    made.trust("proxy", authority.der)
    made.set(console={"enabled": False})
    yield made
    assert TOKEN not in made.log
    assert "Traceback" not in made.log


@pytest.fixture
def proxied(tmp_path, agent, authority):
    """Set nginx and the agent up for each other."""

    def make(certificate="right", scheme="https", **lines):
        need(program, "nginx")
        proxy = Proxy(tmp_path / "nginx", authority, certificate, **lines)
        url = f"{scheme}://localhost:{proxy.port}"
        agent.set(telegram={"token": TOKEN, "base_url": url, "owner": OWNER, "poll_s": 1})
        return proxy

    return make


def is_answered(emulator, words="/lanes", told="running"):
    before = len(emulator.told())
    emulator.say(words)
    emulator.wait_told(lambda all: any(told in text for text in all[before:]))


@pytest.mark.parametrize(
    "lines",
    [
        {},
        {"listen": " http2"},
        {"server": "ssl_protocols TLSv1.2;"},
        {"http": "gzip on; gzip_min_length 1; gzip_types application/json;"},
        {"location": "proxy_http_version 1.1; proxy_buffering off;"},
        {"server": "ssl_session_tickets off; ssl_session_cache none;"},
    ],
    ids=["plain", "http2-offered", "tls12", "gzip", "unbuffered", "no-resumption"],
)
def test_nginx_a_command_is_answered(agent, proxied, tmp_path, lines):
    proxy = proxied(**lines)
    with proxy.running(), emulating(proxy.behind, tmp_path) as emulator, agent.serving():
        is_answered(emulator)
        is_answered(emulator, "/nonsense-grüße", "/nonsense-grüße")
    # This emulator knows no menu of commands; its answer to that must harm nothing.
    menu = proxy.seen("/setMyCommands")
    assert {row[4] for row in proxy.seen() if row not in menu} == {200}
    assert {row[2] for row in proxy.seen()} == {"HTTP/1.1"}


def test_nginx_a_connection_is_kept_for_many_requests(agent, proxied, tmp_path):
    proxy = proxied()
    with proxy.running(), emulating(proxy.behind, tmp_path) as emulator, agent.serving():
        for number in range(5):
            is_answered(emulator, f"/nonsense{number}", f"/nonsense{number}.")
    polls = proxy.seen("/getUpdates")
    assert len(polls) >= 5
    assert len({row[0] for row in polls}) == 1


@pytest.mark.parametrize("kept", ["keepalive_timeout 0;", "keepalive_requests 2;"])
def test_nginx_a_connection_that_is_not_kept_costs_no_message(agent, proxied, tmp_path, kept):
    proxy = proxied(server=kept)
    with proxy.running(), emulating(proxy.behind, tmp_path) as emulator, agent.serving():
        for number in range(4):
            is_answered(emulator, f"/nonsense{number}", f"/nonsense{number}.")
        told = emulator.told()
    for number in range(4):
        assert sum(f"/nonsense{number}." in text for text in told) == 1
    assert max(row[1] for row in proxy.seen()) <= 2


def test_nginx_says_502_until_the_api_is_up(agent, proxied, tmp_path):
    proxy = proxied()
    with proxy.running(), agent.serving():
        line = agent.wait_log("telegram", "502")
        assert line.endswith("Telegram answers 502; next try in 1 s")
        with emulating(proxy.behind, tmp_path) as emulator:
            is_answered(emulator)


def test_nginx_says_502_for_a_while(agent, proxied, tmp_path):
    proxy = proxied()
    with emulating(proxy.behind, tmp_path) as emulator, agent.serving():
        with proxy.running():
            is_answered(emulator)
        proxy.set(location="return 502;")
        before = len(agent.log)
        with proxy.running():
            agent.wait_log("502", after=before)
            emulator.say("/nonsense-meanwhile")
        proxy.set()
        with proxy.running():
            emulator.wait_told(lambda told: any("/nonsense-meanwhile" in text for text in told))
            is_answered(emulator)


def test_nginx_says_413_to_a_message_that_is_too_long_for_it(agent, proxied, tmp_path):
    proxy = proxied(server="client_max_body_size 400;")
    with proxy.running(), emulating(proxy.behind, tmp_path) as emulator, agent.serving():
        is_answered(emulator)
        emulator.say("/help")
        agent.wait_log("413")
        # A message that can never be sent does not hold back the next.
        is_answered(emulator, "/nonsense", "/nonsense.")
    refused = [row for row in proxy.seen("/sendMessage") if row[4] == 413]
    assert 1 <= len(refused) <= 3


def test_nginx_says_429_to_one_that_asks_too_often(agent, proxied, tmp_path):
    proxy = proxied(
        http="limit_req_zone $server_name zone=one:1m rate=4r/s; limit_req_status 429;",
        location="limit_req zone=one burst=1 nodelay;",
    )
    with proxy.running(), emulating(proxy.behind, tmp_path) as emulator, agent.serving():
        for number in range(4):
            emulator.say(f"/nonsense{number}")
        for number in range(4):
            words = f"/nonsense{number}."
            emulator.wait_told(lambda told, words=words: any(words in text for text in told))
        assert len(emulator.told()) == 4
    assert 429 in {row[4] for row in proxy.seen()}


def test_nginx_that_was_away_is_found_again(agent, proxied, tmp_path):
    proxy = proxied()
    with emulating(proxy.behind, tmp_path) as emulator, agent.serving():
        with proxy.running():
            is_answered(emulator)
        emulator.say("/nonsense-meanwhile")
        agent.wait_log("telegram", "next try")
        with proxy.running():
            emulator.wait_told(lambda told: any("/nonsense-meanwhile" in text for text in told))
            is_answered(emulator)


@pytest.mark.parametrize("certificate", ["wrong-name", "expired", "other-ca", "not-yet-valid"])
def test_nginx_with_a_wrong_certificate_is_told_nothing(agent, proxied, certificate):
    proxy = proxied(certificate)
    with proxy.running(), agent.serving():
        agent.wait_log("telegram", "certificate")
    assert proxy.seen() == []


def test_nginx_whose_certificate_has_expired_meanwhile_is_told_nothing_more(
    agent, proxied, tmp_path
):
    proxy = proxied()
    with emulating(proxy.behind, tmp_path) as emulator, agent.serving():
        with proxy.running():
            is_answered(emulator)
        proxy.certify("expired")
        with proxy.running():
            agent.wait_log("telegram", "certificate")
        proxy.certify("right")
        with proxy.running():
            is_answered(emulator)


def test_nginx_that_is_spoken_to_without_tls_says_so(agent, proxied):
    proxy = proxied(scheme="http")
    with proxy.running(), agent.serving():
        line = agent.wait_log("telegram", "400")
    assert "<html>" not in line


@pytest.mark.parametrize("answer", ["301 https://elsewhere.invalid/", "403", "500", "444", "204"])
def test_nginx_any_other_answer_is_a_sentence(agent, proxied, answer):
    status = answer.split()[0]
    proxy = proxied(location=f"return {answer};")
    with proxy.running(), agent.serving():
        line = agent.wait_log("telegram", "closed" if status == "444" else status)
    assert not re.search(r"<\w+>", line)
