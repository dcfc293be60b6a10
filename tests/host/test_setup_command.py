"""`tenner setup`: questions, tests on the board, certificates, secrets that nobody sees, an
owner."""

import json
import os
import ssl
import stat
import subprocess
import sys
import zoneinfo

import pytest
import tzlocal
from click.testing import CliRunner

from tenner_host import ROOT
from tenner_host.cli import main as tenner
from tenner_host.errors import CommandError, then
from tenner_host.setup import settings as store
from tenner_host.setup import zones
from tenner_host.setup.board_ca_roots import addresses, describe, superfluous
from tenner_host.setup.providers import PROVIDERS
from tenner_host.setup.zones import local_zone, posix_zone
from tenner_sim.services import API_KEY, MODEL, TOKEN, Services, Step
from tenner_sim.vboard import VirtualBoard
from tests.host.e2e import HEAP, settings, tree, wifi
from tests.host.terminal import terminal  # noqa: F401 -- a fixture

OWNER = 4711


@pytest.fixture(scope="module")
def services():
    with Services() as made:
        yield made


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, services):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENNER_SIM_DIR", str(tmp_path / "sim"))
    (tmp_path / "ca.pem").write_text(ssl.DER_cert_to_PEM_cert(services.ca_der))
    services.model.plan([])
    return tmp_path


@pytest.fixture(scope="module")
def firmware(services):
    """A board with the agent's code, and neither settings nor certificates."""
    made = tree(services, roots={})
    del made["/config.json"]
    return made


@pytest.fixture
def given(folder, services):
    """A file of settings that works; change it by dotted key."""

    def write(**changes):
        changes = {"telegram.owner": None, **{k.replace("__", "."): v for k, v in changes.items()}}
        path = folder / "given.json"
        path.write_text(json.dumps(settings(services, changes)))
        return str(path)

    return write


def setup(board, *arguments, status=0):
    command = ["setup", "--port", board.pty, "--ca", "ca.pem", *arguments]
    done = CliRunner().invoke(tenner, command)
    assert done.exit_code == status, done.output
    for secret in (API_KEY, TOKEN, wifi()["password"]):
        assert secret not in done.output
    return done


def test_from_a_file_everything_is_tried_and_the_agent_runs(firmware, given, services, folder):
    with VirtualBoard(firmware, heap=HEAP) as board:
        done = setup(board, "--from", given())
        for sentence in (
            f"joined {wifi()['ssid']!r}",
            f"{MODEL} answers the board",
            "the bot is @tenner_offline_bot",
            "trusts     TSTS Root R1",
            "agent      running: tenner",
            "owner      nobody yet: send @tenner_offline_bot on Telegram this message: ",
        ):
            assert sentence in done.stdout, done.stdout
        there = board.read_tree()
        assert json.loads(there["/config.json"])["llm"]["api_key"] == API_KEY
        certificates = [data for path, data in there.items() if path.startswith("/certs/")]
        assert certificates == [services.ca_der]
        assert API_KEY not in board.serial_log and TOKEN not in board.serial_log
        # The code in the link makes a chat the owner's.
        code = done.stdout.split("?start=")[1].split()[0]
        services.telegram.say(OWNER, f"/start {code}")
        board.wait_for(f"paired: chat {OWNER} is the owner")
        # One setting more; earlier ones stay, and nobody is asked to pair again.
        done = setup(board, "--set", "heartbeat.active_hours=08:00-22:00", "--json")
        report = json.loads(done.stdout)
        assert report["settings"]["heartbeat.active_hours"] == "08:00-22:00"
        assert "llm.api_key" in report["secrets"] and "llm.api_key" not in report["settings"]
        assert report["certificates"][0]["expires"] > "2026"
        done = setup(board, "--show")
        assert "llm.api_key                  ***" in done.stdout
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in ("given.json", "flash.bin", "serial.log"):
            assert API_KEY.encode() not in path.read_bytes(), path


def test_a_board_with_little_memory_is_watched_by_its_own_agent(firmware, given, monkeypatch):
    seen = []
    said = ["only 1 KB were left"]

    def watch(ask, pause):
        seen.extend(ask())
        return said[0]

    monkeypatch.setattr("tenner_host.budget.shortage", lambda *board: "Little memory")
    monkeypatch.setattr("tenner_host.setup.memory.watch", watch)
    with VirtualBoard(firmware, heap=HEAP) as board:
        done = setup(board, "--from", given())
        assert "memory     only 1 KB were left" in done.stderr
        assert any(line.startswith("for Wi-Fi and TLS: ") for line in seen), seen
        # The offer of a pairing code comes before, and is not lost.
        assert "?start=" in done.stdout
        done = setup(board, "--set", "heartbeat.every=1h", "--json")
        assert json.loads(done.stdout)["memory"] == "only 1 KB were left"
        # With nothing to report from the agent, the figures of the chip count.
        said[0] = ""
        done = setup(board, "--set", "heartbeat.every=2h")
        assert "memory     Little memory" in done.stderr
        count = len(seen)
        done = setup(board, "--set", "heartbeat.every=1h", "--no-test")
        assert len(seen) == count and "memory     Little memory" in done.stderr
        done = setup(board, "--set", "telegram.token=", "--no-test")
        assert "memory" not in done.stderr


def test_the_context_that_the_server_tells_is_set(firmware, given, services, monkeypatch):
    monkeypatch.setattr(services.model, "context_tokens", 6000)
    monkeypatch.setattr(services.model, "tells_context", True)
    with VirtualBoard(firmware, heap=HEAP) as board:
        done = setup(board, "--from", given())
        assert "; its context is 6000 tokens: llm.context_tokens is set to that" in done.stdout
        config = json.loads(board.read_tree()["/config.json"])
        assert config["llm"]["context_tokens"] == 6000


def stall(services):
    services.model.plan([Step(status=401, times=9)])


# (name, changes to the settings, fault, words of the sentence)
WRONG = [
    ("wifi", {"wifi__ssid": "elsewhere"}, None, "no network of that name is in range"),
    ("password", {"wifi__password": "wrong-password"}, None, "the password is wrong"),
    ("key", {}, stall, "does not take the key (HTTP 401)"),
    ("host", {"llm__base_url": "https://localhost:9/v1"}, None, "localhost:9 cannot be reached"),
    ("token", {"telegram__token": "123:wrong-token"}, None, "Telegram does not know this token"),
    ("unknown", {"llm__modle": "x"}, None, 'unknown key "llm.modle"'),
    ("range", {"llm__timeout_s": 1}, None, "llm.timeout_s must be a whole number from 5"),
]


def test_what_does_not_work_is_said_and_nothing_is_changed(firmware, given, services):
    with VirtualBoard(firmware, heap=HEAP) as board:
        for name, changes, fault, sentence in WRONG:
            services.model.plan([])
            if fault:
                fault(services)
            done = setup(board, "--from", given(**changes), status=1)
            assert sentence in done.stderr, (name, done.output)
            assert done.stderr.count("\n") == 1, name
            assert "/config.json" not in board.read_tree(), name
        services.model.plan([])
        done = setup(board, "--from", given(wifi__ssid="elsewhere"), "--no-test", "--json")
        assert json.loads(done.stdout)["settings"]["wifi.ssid"] == "elsewhere"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("is it on?", "is it on? Nothing was changed."),
        ("it is off", "it is off. Nothing was changed."),
        ("it is off.", "it is off. Nothing was changed."),
    ],
)
def test_an_error_and_its_consequence_are_two_sentences(message, text):
    assert then(message, "Nothing was changed.") == text


def test_a_server_nobody_vouches_for(firmware, given):
    with VirtualBoard(firmware, heap=HEAP) as board:
        done = CliRunner().invoke(tenner, ["setup", "--port", board.pty, "--from", given()])
        assert done.exit_code == 1
        assert "cannot be verified" in done.stderr
        assert "a server with its own authority needs --ca FILE" in done.stderr


def test_an_authority_of_ones_own_is_given_once(firmware, given, services):
    with VirtualBoard(firmware, heap=HEAP) as board:
        setup(board, "--from", given())
        certificates = {p: d for p, d in board.read_tree().items() if p.startswith("/certs/")}
        # From then on the board's own trust is enough, with the model and Telegram tried once
        # more.
        command = ["setup", "--port", board.pty, "--set", "llm.timeout_s=40"]
        done = CliRunner().invoke(tenner, command)
        assert done.exit_code == 0, done.output
        assert f"{MODEL} answers the board" in done.stdout
        # Without a test no server need be there, and no certificate is lost by it.
        away = ["--set", "llm.base_url=https://localhost:9/v1", "--no-test"]
        done = CliRunner().invoke(tenner, ["setup", "--port", board.pty, *away])
        assert done.exit_code == 0, done.output
        assert "not tried  localhost:9 cannot be reached" in done.stderr
        there = board.read_tree()
        assert {p: d for p, d in there.items() if p.startswith("/certs/")} == certificates
        assert json.loads(there["/config.json"])["llm"]["base_url"] == "https://localhost:9/v1"
        done = CliRunner().invoke(tenner, ["setup", "--port", board.pty, *away[:2]])
        assert done.exit_code == 1
        assert "(--no-test writes them without tests)" in done.stderr


def test_a_certificate_that_is_given_is_for_whom_nobody_can_ask(firmware, given, services):
    with VirtualBoard(firmware, heap=HEAP) as board:
        path = given(llm__base_url="https://localhost:9/v1", telegram__token=None)
        done = setup(board, "--from", path, "--no-test", "--json")
        report = json.loads(done.stdout)
        assert "localhost:9" in report["certificates"][0]["hosts"]
        assert "localhost:9 cannot be reached" in report["unproven"][0]
        found = [data for path, data in board.read_tree().items() if path.startswith("/certs/")]
        assert found == [services.ca_der]


def to_the_model(dialog):
    """Answer from the password on up to the address of a model."""
    dialog.wait_for("Password")
    dialog.type(wifi()["password"] + "\n")
    dialog.wait_for("the clock is set")
    dialog.wait_for("Provider [openai]: ")
    dialog.type("other\n")
    dialog.wait_for("Address of its API")


def test_the_questions(firmware, services, folder, terminal):
    """Each is answered, one of them wrongly first; secrets do not show."""
    with VirtualBoard(firmware, heap=HEAP) as board:
        dialog = terminal("setup", "--port", board.pty, "--ca", "ca.pem")
        dialog.wait_for(wifi()["ssid"])
        dialog.wait_for("Number or name of the network")
        dialog.type("1\n")
        dialog.wait_for("Password")
        dialog.type("not the password\n")
        dialog.wait_for("the password is wrong")
        dialog.wait_for("try again [Y/n]: ")
        dialog.type("\n")
        dialog.wait_for("Number or name of the network")
        dialog.type("\n")
        to_the_model(dialog)
        dialog.type(services.model.base_url + "\n")
        dialog.wait_for("[chat]: ")
        dialog.type("\n")
        dialog.wait_for("Its key")
        dialog.type(API_KEY + "\n")
        dialog.wait_for("Model: ")
        # As a terminal of another encoding sends it.
        dialog.type("\udce9\n")
        dialog.wait_for("aren't UTF-8")
        dialog.wait_for("Model: ")
        dialog.type(MODEL + "\n")
        dialog.wait_for(f"{MODEL} answers the board")
        dialog.wait_for("Token of the bot")
        dialog.type("\n")
        dialog.wait_for("Your time zone")
        dialog.type("Mars/Olympus\n")
        dialog.wait_for("There's no time zone of that name")
        dialog.type("Europe/Berlin\n")
        dialog.wait_for("Active hours")
        dialog.type("08:00-22:00\n")
        dialog.wait_for("agent      running: tenner")
        assert dialog.end() == 0
        assert API_KEY not in dialog.seen and wifi()["password"] not in dialog.seen
        written = json.loads(board.read_tree()["/config.json"])
    assert written == {
        "wifi": {"ssid": wifi()["ssid"], "password": wifi()["password"]},
        "llm": {
            "base_url": services.model.base_url,
            "api": "chat",
            "api_key": API_KEY,
            "model": MODEL,
        },
        "time": {"zone": "CET-1CEST,M3.5.0,M10.5.0/3"},
        "heartbeat": {"active_hours": "08:00-22:00"},
    }


def test_ctrl_c_in_the_questions_leaves_the_board_as_it_was(firmware, terminal):
    with VirtualBoard({**firmware, "/config.json": b'{"name": "before"}'}, heap=HEAP) as board:
        board.wait_for("boot      tenner")
        dialog = terminal("setup", "--port", board.pty)
        dialog.wait_for("Number or name of the network")
        assert dialog.interrupt() == 130
        assert "Traceback" not in dialog.seen
        board.wait_for("boot      tenner")
        assert board.read_tree()["/config.json"] == b'{"name": "before"}'


def test_answers_that_work_are_kept_when_the_dialog_ends_early(
    firmware, services, folder, terminal
):
    """Ctrl-C loses no Wi-Fi, a model that is given up stays as it was, and the next run goes on
    from there."""
    with VirtualBoard(firmware, heap=HEAP) as board:
        dialog = terminal("setup", "--port", board.pty, "--ca", "ca.pem")
        dialog.wait_for("Number or name of the network")
        dialog.type("99\n")
        dialog.wait_for("There's no network number 99")
        dialog.wait_for("Number or name of the network")
        dialog.type("1\n")
        to_the_model(dialog)
        dialog.type("http://localhost:9/v1\n")
        dialog.wait_for("[chat]: ")
        dialog.type("\n")
        dialog.wait_for("Its key")
        dialog.type("\n")
        dialog.wait_for("Model: ")
        dialog.type("m\n")
        dialog.wait_for("try again [Y/n]: ")
        dialog.type("n\n")
        dialog.wait_for("Then it stays as it was")
        dialog.wait_for("Token of the bot")
        assert dialog.interrupt() == 130
        assert "Kept so far: Wi-Fi. `tenner setup` goes on." in dialog.seen
        join = {"ssid": wifi()["ssid"], "password": wifi()["password"]}
        assert json.loads(board.read_tree()["/config.json"]) == {"wifi": join}

        dialog = terminal("setup", "--port", board.pty)
        dialog.wait_for(f"Number or name of the network [{wifi()['ssid']}]")
        assert dialog.interrupt() == 130


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("8-22", "08:00-22:00"),
        ("8:30 - 22", "08:30-22:00"),
        ("08.00\u201322.15", "08:00-22:15"),
        ("22 to 7", "22:00-07:00"),
        ("08:00-22:00", "08:00-22:00"),
    ],
)
def test_active_hours_as_people_write_them(text, hours):
    settings = {}
    store.assign_text(settings, "heartbeat.active_hours", text)
    assert settings == {"heartbeat": {"active_hours": hours}}


def test_without_a_terminal_it_says_how(firmware):
    done = CliRunner().invoke(tenner, ["setup"])
    assert done.exit_code == 1
    assert "use --from FILE or --set KEY=VALUE" in done.stderr


# Settings.

# (assignment, environment, the settings or the sentence)
ASSIGNMENTS = [
    ("name=desk", {"name": "desk"}),
    ("llm.max_tokens=2000", {"llm": {"max_tokens": 2000}}),
    ("console.enabled=off", {"console": {"enabled": False}}),
    ("heartbeat.every=45m", {"heartbeat": {"every": "45m"}}),
    ("heartbeat.tools=sensor,i2c", {"heartbeat": {"tools": ["sensor", "i2c"]}}),
    ("tools.gpio=deny", {"tools": {"gpio": "deny"}}),
    ("llm.api_key=@key.txt", {"llm": {"api_key": "from-a-file"}}),
    ("llm.api_key=$SETUP_KEY", {"llm": {"api_key": "from-the-environment"}}),
    ("time.zone=", {"time": {}}),
    ("llm.api_key=abc", "llm.api_key is a secret, and others can see a command line"),
    ("llm.modle=x", "did you mean llm.model?"),
    ("llm.max_tokens=many", "must be a whole number"),
    ("name", "--set wants KEY=VALUE"),
    ("llm.api_key=@nothing", "nothing cannot be read"),
    ("llm.api_key=$NOTHING_HERE", "there is no variable NOTHING_HERE"),
]


@pytest.mark.parametrize(("assignment", "result"), ASSIGNMENTS, ids=[a for a, _ in ASSIGNMENTS])
def test_settings_are_set_by_assignment(assignment, result, folder, monkeypatch):
    (folder / "key.txt").write_text("from-a-file\n")
    monkeypatch.setenv("SETUP_KEY", "from-the-environment")
    made = {}
    if isinstance(result, str):
        with pytest.raises(CommandError) as caught:
            store.assign(made, assignment)
        assert result in caught.value.message
        assert "abc" not in caught.value.message
    else:
        store.assign(made, assignment)
        assert made == result


@pytest.mark.parametrize(
    ("answer", "telegram"),
    [
        ("1:abc", {"token": "1:abc"}),
        ("http://localhost:80/bot1:abc", {"token": "1:abc", "base_url": "http://localhost:80"}),
        ("https://h/api/bot1:abc/", {"token": "1:abc", "base_url": "https://h/api"}),
    ],
)
def test_a_bot_is_a_token_or_an_address_with_one(answer, telegram):
    made = {}
    store.assign_text(made, "telegram.token", answer)
    assert made == {"telegram": telegram}


# (time.zone as written, its rule; None: refused)
ZONES = [
    ("Europe/Paris", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Asia/Tokyo", "JST-9"),
    ("CET-1CEST,M3.5.0,M10.5.0/3", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("+02:00", "+02:00"),
    ("UTC", "UTC0"),
    ("Nowhere", None),
    ("Nowhere/Land", None),
    ("Paris", None),
    ("+99:00", None),
    ("../etc/passwd", None),
]


@pytest.mark.parametrize(("zone", "rule"), ZONES, ids=[zone for zone, _ in ZONES])
def test_a_zone_has_its_rule_or_is_refused(zone, rule):
    made = {"time": {"zone": zone}}
    if rule is None:
        with pytest.raises(CommandError, match=r"time\.zone must be a time zone"):
            store.settle(made)
    else:
        store.settle(made)
        assert made == {"time": {"zone": rule}}


def test_a_name_on_telegram_is_named():
    assert "telegram.owner: @alice" in store.nobody({"telegram": {"owner": "@alice"}})
    assert "telegram.allow: @bob" in store.nobody({"telegram": {"owner": 7, "allow": [8, "@bob"]}})
    assert store.nobody({"telegram": {"owner": 7, "allow": ["-1007"]}}) == ""


def test_every_key_is_listed():
    done = CliRunner().invoke(tenner, ["setup", "--keys"])
    assert "llm.base_url" in done.stdout and "address of the model's API" in done.stdout


def test_the_checked_file_is_for_its_owner_alone(monkeypatch):
    seen = []
    load = store.configload.load

    def look(path, env):
        seen.append(stat.S_IMODE(store.os.stat(path).st_mode))
        return load(path, env)

    monkeypatch.setattr(store.configload, "load", look)
    store.check({"llm": {"api_key": "x"}})
    assert seen == [0o600]


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda one: one.name)
def test_the_presets_are_settings_the_firmware_takes(provider):
    made = {"llm": {"api": provider.api, "base_url": provider.base_url, "model": provider.model}}
    store.check(made)
    assert provider.base_url.startswith("https://") or not provider.keys


# Certificates and time zones.


def test_the_hosts_of_all_settings_are_found_once():
    found = addresses(
        {
            "llm": {
                "base_url": "https://a.example/v1",
                "fallbacks": [
                    {"base_url": "https://b.example/v1"},
                    {"base_url": "https://a.example/v2"},
                ],
            },
            "telegram": {"token": "x"},
        }
    )
    assert found == ["https://a.example/v1", "https://api.telegram.org", "https://b.example/v1"]
    local = {"llm": {"base_url": "http://192.168.1.2/v1"}}
    assert addresses(local) == []
    assert addresses({**local, "mqtt": {"host": "nas.local"}}) == ["mqtts://nas.local:8883"]
    assert addresses({**local, "mqtt": {"host": "nas.local", "tls": False}}) == []


def test_only_public_roots_are_taken_away(services):
    import certifi

    pem = open(certifi.where()).read()
    start = pem.index("-----BEGIN")
    public = ssl.PEM_cert_to_DER_cert(pem[start : pem.index("-----END") + 25])
    there = {"/certs/old.der": public, "/certs/mine.der": services.ca_der}
    assert superfluous(there, []) == ["/certs/old.der"]
    needed = describe(services.ca_der)
    assert needed.name.startswith("tsts-root-r1-") and needed.expires > 0
    assert superfluous({needed.path: services.ca_der}, [needed]) == []
    with pytest.raises(CommandError, match="no certificate of an authority"):
        describe(b"nothing")


ZONES = [
    ("Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Asia/Kolkata", "IST-5:30"),
    ("America/New_York", "EST5EDT,M3.2.0,M11.1.0"),
    ("CET-1CEST,M3.5.0,M10.5.0/3", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("UTC", "UTC0"),
    ("<+03>-3", "<+03>-3"),
    ("Mars/Olympus", None),
    ("../../etc/passwd", None),
    ("", None),
]


@pytest.mark.parametrize(("name", "posix"), ZONES, ids=[name for name, _ in ZONES])
def test_time_zones(name, posix):
    assert posix_zone(name) == posix


@pytest.mark.parametrize(
    ("variable", "zone"),
    [
        ("Europe/Berlin", ("Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3")),
        ("Asia/Kolkata", ("Asia/Kolkata", "IST-5:30")),
    ],
)
def test_this_computers_zone(variable, zone):
    # It is looked up once in a process.
    code = "from tenner_host.setup.zones import local_zone; print(local_zone())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "TZ": variable},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == repr(zone)


def test_a_computer_that_names_no_zone_or_two(monkeypatch, tmp_path):
    def two():
        raise zoneinfo.ZoneInfoNotFoundError("Multiple conflicting time zone configurations found")

    localtime = tmp_path / "localtime"
    monkeypatch.setattr(zones, "_LOCALTIME", localtime)
    for answer in (two, lambda: None, lambda: "Mars/Olympus"):
        monkeypatch.setattr(tzlocal, "get_localzone_name", answer)
        localtime.unlink(missing_ok=True)
        assert local_zone() is None
        # A copy of the zone's file, as in many containers, instead of a link to it.
        localtime.write_bytes(zones._file("America/New_York"))
        assert local_zone() == ("America/New_York", "EST5EDT,M3.2.0,M11.1.0")
        localtime.write_bytes(b"TZif2 of nobody\n<+02>-2\n")
        assert local_zone() == ("<+02>-2", "<+02>-2")
        localtime.write_bytes(b"no zone")
        assert local_zone() is None
