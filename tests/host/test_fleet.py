"""`tenner fleet`: boards on one broker, asked for from the host."""

import contextlib
import sys

import pytest
from click.testing import CliRunner

from tenner_host.cli import main
from tenner_sim.services.authority import Authority
from tests.host.broker import PASSWORD, USER, Broker, Owner
from tests.host.e2e import PSRAM, agent_board
from tests.host.json_documents import printed

pytestmark = pytest.mark.long

BOARDS = tuple("attic barn cellar den foyer garage hall kitchen loft porch".split())


@pytest.fixture
def broker(tmp_path):
    with Broker(tmp_path, Authority()) as running:
        (tmp_path / "ca.pem").write_bytes(running.authority.pem)
        yield running


def fleet(broker, tmp_path, *more, password=PASSWORD):
    arguments = ["fleet", "status", "--host", "localhost", "--port", str(broker.port)]
    arguments += ["--user", USER, "--ca", str(tmp_path / "ca.pem"), *more]
    return CliRunner().invoke(main, arguments, env={"TENNER_MQTT_PASSWORD": password})


def test_ten_boards_and_one_that_lost_its_power(broker, tmp_path):
    def roots(services):
        return {"stand-in": services.ca_der, "broker": broker.authority.der}

    owner = Owner(broker)
    with contextlib.ExitStack() as stack:
        boards = {}
        for name in BOARDS:
            changes = {"telegram.token": None, "mqtt.topic": f"tenner/{name}", "name": name}
            boards[name] = stack.enter_context(
                agent_board(
                    changes={**broker.settings(), **changes},
                    roots=roots,
                    heap=PSRAM,
                )
            )
        for name in BOARDS:
            owner.wait(f"{name}/sensor/room")
            owner.wait(f"{name}/state")
        boards["cellar"].board.wifi(False)
        owner.wait("cellar/status", lambda text: text == "offline")
        found = printed("fleet status", fleet(broker, tmp_path, "--json").output)["boards"]
        table = fleet(broker, tmp_path).output
    owner.close()
    print(table)
    assert {one["topic"]: one["status"] for one in found} == {
        f"tenner/{name}": "offline" if name == "cellar" else "online" for name in BOARDS
    }
    assert [one["state"]["name"] for one in found] == list(BOARDS)
    assert all(one["sensors"]["room"]["temperature"] == 21.5 for one in found)
    assert "room 21.5" in table.splitlines()[1]


def test_a_broker_without_boards(broker, tmp_path):
    result = fleet(broker, tmp_path)
    assert result.exit_code == 0
    assert "no boards found under tenner/ on localhost" in result.output


def test_a_failure_is_one_sentence(broker, tmp_path):
    for arguments, password, words in (
        ((), "wrong", "rejected the connection: Not authorized"),
        (("--port", "1"), PASSWORD, "there is no broker at localhost:1"),
        (("--no-tls",), PASSWORD, "gave no answer|there is no broker|refuses"),
    ):
        result = fleet(broker, tmp_path, *arguments, password=password)
        assert result.exit_code == 1
        assert any(word in result.output for word in words.split("|")), result.output
        assert "Traceback" not in result.output


def test_a_library_that_is_missing_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "paho.mqtt.client", None)
    result = CliRunner().invoke(main, ["fleet", "status", "--host", "localhost"])
    assert result.exit_code == 1
    assert result.output == (
        "tenner: a broker needs the library paho-mqtt: "
        f"{sys.executable} -m pip install 'paho-mqtt>=2.1,<3'\n"
    )


def test_an_unknown_authority_is_refused(broker):
    arguments = ["fleet", "status", "--host", "localhost", "--port", str(broker.port)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert "give its authority with --ca" in result.output
