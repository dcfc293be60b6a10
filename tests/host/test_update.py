"""Updates over the network on virtual boards: a good version stays, a bad one is rolled back."""

import contextlib
import re

import pytest

from tenner_host import FIRMWARE, tenner_version
from tenner_host.release import keys
from tenner_sim.services.authority import Authority
from tests.host.e2e import ASK, OWNER, SideBySide, agent_board
from tests.host.releases import SHORT_TRIAL, Server, code, public, release

pytestmark = pytest.mark.long

together = SideBySide(3)
OLD = tenner_version()

OFFER = rf"Version 0.9.0 is there, \d+ KB, in place of {OLD}: Tested.\nInstall it"
#: The time after which the watchdog ends a trial.
TRIAL_MS = "TRIAL_MS = 600000"


@contextlib.contextmanager
def board(server, trial_ms=60000, options=None, **changes):
    """A board that knows the owner's key, and is to update itself from `server`."""
    script = (FIRMWARE / "boot_trial.py").read_text()
    assert TRIAL_MS in script
    files = {
        keys.ON_BOARD: public(),
        "/boot_trial.py": script.replace(TRIAL_MS, f"TRIAL_MS = {trial_ms}"),
    }
    if server.root:
        files["/certs/releases.der"] = server.root
    settings = {"update.url": server.url, **changes}
    with agent_board(files=files, changes=settings, **(options or {})) as bench:
        yield bench.ready()


def trees(bench):
    """Everything in /lib, without the files of each tree."""
    return sorted(
        {path.split("/")[2] for path in bench.board.read_tree() if path.startswith("/lib/")}
    )


def install(bench):
    bench.telegram.say(OWNER, "/update 0.9.0")
    bench.wait_for("0.9.0 is in place: restarting", 60)


def press(bench, button):
    """Press a button below the offer of version 0.9.0."""
    bench.wait_told(OFFER)
    question = next(one for one in reversed(bench.telegram.sent) if re.search(OFFER, one.text))
    data = {one["text"]: one["callback_data"] for one in question.buttons}
    bench.telegram.press(question, data[button])


@together.check
def test_a_good_version_is_offered_installed_and_stays():
    body = release(code("0.9.0", SHORT_TRIAL))
    with Server(body, Authority()) as server, board(server) as bench:
        bench.telegram.say(OWNER, "/update")
        pins = bench.board.read_tree()["/lib/tenner/pins.csv"]
        press(bench, "Allow")
        bench.wait_for("0.9.0 is in place: restarting", 60)
        bench.wait_for("tenner 0.9.0 on esp32")
        bench.wait_told(f"I run version 0.9.0 now, in place of {OLD}", timeout_s=60)
        bench.wait_for("tenner 0.9.0 on esp32")
        bench.echo("alive")
        assert trees(bench) == ["release.keys", "tenner"]
        assert bench.board.read_tree()["/lib/tenner/pins.csv"] == pins
        # The same release again is no newer one.
        bench.telegram.say(OWNER, "/update")
        bench.wait_told("No update: the release is 0.9.0, and 0.9.0 runs")


# (name, change of the firmware, the reason in the message, a word of the last log lines)
BAD = [
    (
        "stops_at_import",
        ("app.py", '    port: "Port"\n', '    port = int("broken")\n'),
        "it did not come up",
        "broken",
    ),
    (
        "refuses_its_settings",
        ("update/settings.tsv", "update.url\t", "update.address\t"),
        "it did not come up",
        "update.url",
    ),
    (
        "hangs",
        ("update/trial.py", "    while True:\n", "    while True:\n        continue\n"),
        "it did not come up",
        "the trial of 0.9.0 begins",
    ),
    (
        "loses_wifi",
        ("runtime/boot.py", 'Wifi(app.port, get("wifi.ssid")', 'Wifi(app.port, "elsewhere"'),
        "it came up, but did not connect to the network",
        "it is up",
    ),
    (
        "hears_nothing",
        ("channels/telegram/channel.py", 'self.status = "polling"', 'self.status = "deaf"'),
        "it came up and connected, but did not hear from its channel",
        "trial: connected",
    ),
    (
        "fails_in_each_look_as_if_for_want_of_a_file",
        ("schedule/tick.py", "    service.parsed = None\n", '    raise OSError(2, "a look")\n'),
        "it connected and heard its channel, but did not live three minutes without a fault",
        "a look",
    ),
    (
        "eats_its_heap",
        (
            "runtime/services.py",
            '    host = app.config.get("time.ntp_host")\n',
            "    host = None\n"
            "    app.eaten = []\n"
            "    while True:\n"
            "        try:\n"
            "            app.eaten.append(bytearray(256))\n"
            "            await asyncio.sleep(0)\n"
            "        except MemoryError:\n"
            "            pass\n",
        ),
        "it ",
        "the trial of 0.9.0 begins",
    ),
]


# A part of it is faulty, which the trial finds out before the watchdog does: (name, change, a
# word of the last log lines).
FAULTY = [
    (
        "in_a_service",
        (
            "runtime/services.py",
            '    host = app.config.get("time.ntp_host")\n',
            '    host = int("late")\n',
        ),
        "late",
    ),
    (
        "in_a_task_nobody_awaits",
        (
            "runtime/services.py",
            '    host = app.config.get("time.ntp_host")\n',
            '    host = app.config.get("time.ntp_host")\n    asyncio.create_task(_fall())\n',
        ),
        "a task",
    ),
    (
        "in_the_beat",
        ("schedule/tick.py", "    if not service.booted:\n", '    int("a beat")\n    if 0:\n'),
        "a beat",
    ),
    (
        "in_the_report_of_the_trial",
        (
            "update/trial.py",
            "    here = version + (",
            '    int("report")\n    here = version + (',
        ),
        "report",
    ),
    (
        "in_the_last_step",
        (
            "update/trial.py",
            "    await occurrences.write_down(app)\n    log(",
            '    int("last")\n    log(',
        ),
        "last",
    ),
]
# A module of each package, which cannot be imported.
MODULES = [
    "agent/turn.py",
    "channels/mqtt/home_assistant.py",
    "chart/picture.py",
    "llm/parse_chat.py",
    "mcp/client.py",
    "net/web/html.py",
    "remote/serve.py",
    "schedule/alarms.py",
    "sensors/bme280.py",
    "store/expose.py",
    "tools/spawn.py",
    "update/offer.py",
    "channels/voice.py",
    "runtime/sampler.py",
]
# Only the watchdog ends these: (name, change, the reason, a word of the last log lines).
STUCK = [
    (
        "a_beat_that_waits_for_ever",
        (
            "schedule/service.py",
            "        while True:\n            if not self._nothing_new():\n",
            "        while True:\n            await asyncio.sleep(9999)\n            if 1:\n",
        ),
        "it connected and heard its channel",
        "waits for heartbeat",
    ),
    (
        "a_trial_that_fails_itself",
        (
            "update/trial.py",
            '    log("update", "the trial of',
            '    int("trial")\n    log("update", "',
        ),
        "it did not come up",
        "trial",
    ),
    (
        "messages_that_do_not_leave",
        (
            "channels/delivery.py",
            "        while item and await self._send(item):\n",
            "        while item and item.id != 'update-0.9.0' and await self._send(item):\n",
        ),
        "it connected and heard its channel",
        "all parts had a round",
    ),
]


def broken(change):
    """A release with this change of its firmware."""
    helper = (
        "runtime/services.py",
        "async def _set_clock",
        "async def _fall():\n    int('a task')\n\n\nasync def _set_clock",
    )
    return release(code("0.9.0", SHORT_TRIAL, change, helper))


@together.each(FAULTY)
def test_a_faulty_part_ends_the_trial_at_once(name, change, word):
    bad = broken(change)
    with Server(bad) as server, board(server, trial_ms=600000) as bench:
        install(bench)
        text = bench.wait_told("Version 0.9.0 failed its trial", timeout_s=120)
        assert f". I run {OLD} again.\nIts last log lines:\n" in text
        assert word in text and "trial: a fault of" in text
        bench.echo("alive")
        assert trees(bench) == ["release.keys", "tenner"]


@together.each([(path,) for path in MODULES])
def test_a_module_that_cannot_be_imported_is_found(path):
    bad = release(code("0.9.0", SHORT_TRIAL, (path, "\n\n\n", '\n\n\nint("broken")\n\n\n')))
    with Server(bad) as server, board(server, trial_ms=600000) as bench:
        install(bench)
        text = bench.wait_told("Version 0.9.0 failed its trial", timeout_s=120)
        assert "broken" in text
        bench.echo("alive")
        assert trees(bench) == ["release.keys", "tenner"]


@together.each(STUCK)
def test_a_trial_that_gets_stuck_ends_with_the_watchdog(name, change, reason, word):
    bad = release(code("0.9.0", SHORT_TRIAL, change))
    with Server(bad) as server, board(server, trial_ms=25000) as bench:
        install(bench)
        text = bench.wait_told("Version 0.9.0 failed its trial", timeout_s=120)
        assert text.startswith(f"Version 0.9.0 failed its trial: {reason}")
        assert word in text
        bench.echo("alive")


@together.check
def test_a_fault_after_the_decision_leaves_a_board_that_answers():
    change = (
        "update/trial.py",
        '    note(app, "I run',
        "    int('after')\n    note(app, \"I run",
    )
    bad = release(code("0.9.0", SHORT_TRIAL, change))
    with Server(bad) as server, board(server) as bench:
        install(bench)
        bench.wait_told(f"I run version 0.9.0 now, in place of {OLD}", timeout_s=120)
        bench.wait_for("0.9.0 has passed its trial", 60)
        bench.wait_for("tenner 0.9.0 on esp32")
        bench.echo("alive")
        assert "passed" in trees(bench) and "trial" not in trees(bench)


@together.check
def test_a_fault_in_a_tool_is_an_error_of_that_tool_alone():
    change = (
        "tools/i2c.py",
        '    register = args.get("register")\n',
        "    register = int('no')\n",
    )
    with (
        Server(release(code("0.9.0", SHORT_TRIAL, change))) as server,
        board(server) as bench,
    ):
        install(bench)
        bench.wait_told(f"I run version 0.9.0 now, in place of {OLD}", timeout_s=120)
        # The restart after the trial, not that into it.
        bench.wait_for("0.9.0 has passed its trial", 60)
        bench.wait_for("tenner 0.9.0 on esp32")
        bench.wait_for("(pool.ntp.org)")
        assert "21.5" not in bench.ask(ASK)
        bench.echo("alive")


@together.each([(number, change) for number, (_, change, *_) in enumerate([*FAULTY, *BAD])])
def test_a_power_cut_in_the_trial_of_a_broken_release(number, change):
    """Whenever the power goes, the old version is back at the end, and the owner knows."""
    bad = broken(change)
    with Server(bad) as server, board(server, trial_ms=12000) as bench:
        install(bench)
        bench.board.power_cut(number * 2, number % 2 == 1)
        bench.board.wait_state("off", 60)
        bench.board.power_on()
        bench.wait_told("Version 0.9.0 failed its trial", timeout_s=120)
        bench.echo("alive")
        assert trees(bench) == ["release.keys", "tenner"]


@together.each(BAD)
def test_a_bad_version_is_rolled_back(name, change, reason, word):
    bad = release(code("0.9.0", SHORT_TRIAL, change))
    with Server(bad) as server, board(server, trial_ms=12000) as bench:
        install(bench)
        bench.wait_for(f"tenner {OLD} on esp32", 60)
        text = bench.wait_told("Version 0.9.0 failed its trial", timeout_s=60)
        assert text.startswith(f"Version 0.9.0 failed its trial: {reason}")
        assert f". I run {OLD} again.\nIts last log lines:\n" in text
        assert word in text
        bench.echo("alive")
        assert trees(bench) == ["release.keys", "tenner"]


@together.check
def test_a_power_cut_in_the_trial_goes_back_too():
    with Server(release(code("0.9.0"))) as server, board(server) as bench:
        install(bench)
        bench.wait_for("trial: it hears its channel", 60)
        bench.board.power_cycle()
        bench.wait_for(f"tenner {OLD} on esp32")
        bench.wait_told("it connected and heard its channel, but did not live three minutes")
        bench.echo("alive")


@together.each([("ranges",), ("no_ranges",)])
def test_a_download_that_breaks_off_goes_on_where_it_was(kind):
    body = release(code("0.9.0", SHORT_TRIAL))
    with Server(body) as server, board(server) as bench:
        server.ranges = kind == "ranges"
        server.cut_after = [len(body) // 2, len(body) // 3 if server.ranges else None]
        install(bench)
        bench.wait_told("I run version 0.9.0 now", timeout_s=60)
        starts = [int(one[6:-1]) for one in server.requests if one]
        # Also without ranges, where it skips the first part.
        assert starts == [len(body) // 2, len(body) // 2 + len(body) // 3][: len(starts)]
        assert len(starts) == len(server.requests) - 2


@together.check
def test_each_version_is_offered_once_by_the_daily_look():
    body = release(code("0.9.0", SHORT_TRIAL))
    with Server(body) as server, board(server, **{"update.check": True}) as bench:
        press(bench, "Deny")
        bench.wait_told("Denied")
        bench.echo("still")
        assert server.known == [None]
        # A restart brings no second look on the same day.
        bench.board.power_cycle()
        bench.ready()
        bench.echo("alive")
        assert server.known == [None]
        bench.board.clock(advance_s=90000)
        bench.board.power_cycle()
        bench.wait_for("the same release as yesterday", 60)
        assert server.known[0] is None and server.known[1].startswith('"')
        assert len([text for text in bench.told() if re.search(OFFER, text)]) == 1


@together.check
def test_redirects_are_followed_to_safe_places_only():
    with Server(release(code("0.9.0", SHORT_TRIAL))) as server, board(server) as bench:
        path = "/tenner.release"
        for moved, told in (
            ({path: path}, "update.url redirects again and again"),
            ({path: "http://127.0.0.1:9/router"}, "update.url leads to http://127.0.0.1:9/router"),
            ({path: "ftp://x/y"}, "no http or https address"),
        ):
            server.moved = moved
            bench.telegram.say(OWNER, "/update")
            bench.wait_told("No update: .*" + told)
        assert server.requests == []
        server.moved = {path: "/a/../latest/one", "/latest/one": "two?x=1"}
        install(bench)
        bench.wait_told("I run version 0.9.0 now", timeout_s=60)


@together.check
def test_a_server_that_proves_nothing_gives_no_release():
    with Server(b"x", Authority()) as server:
        server.root = b""  # the board does not know its authority
        with board(server) as bench:
            bench.telegram.say(OWNER, "/update")
            bench.wait_told("No update: the download from update.url broke off: .*certificate")
            assert server.requests == []


@together.check
def test_a_stranger_starts_no_update():
    with Server(b"") as server, board(server, **{"telegram.allow": ["4711"]}) as bench:
        bench.telegram.say(4711, "/update")
        bench.wait_told("Only the owner updates this agent.", chat=4711)
        assert server.requests == []


#: An owner's driver that takes the board down, as a fault in C does.
CRASHES = {
    "/workspace/drivers/crash.py": (
        "import machine\n\n\nasync def read(port, cfg):\n    machine.reset()\n"
    ),
    "/workspace/drivers/crash.json": "{}",
    "/workspace/SENSORS.json": '{"bad": {"driver": "crash"}}',
}
CRASHING = "# Heartbeat\n- (every 1s; when bad.temperature > 30; notify) Hot.\n"


@together.check
def test_a_start_that_a_person_ends_is_not_a_bad_one():
    with agent_board() as bench:
        for _ in range(4):
            bench.ready()
            assert "/state/starts" in bench.board.read_tree()
            bench.board.type("\x03")
            bench.wait_for("agent stopped")
            bench.wait_for(">>> ")
            bench.board.type("import machine; machine.reset()\r")
            bench.wait_for("(HARD start)")
        bench.echo("alive")
        for _ in range(4):
            bench.board.soft_reset()
            bench.wait_for("(SOFT start)")
        bench.echo("alive")
        assert "safe mode" not in bench.log


@together.check
def test_three_starts_that_end_in_a_reset_lead_to_safe_mode():
    with agent_board(CRASHING, files=CRASHES) as bench:
        for _ in range(3):
            bench.wait_for("(HARD start)")
        told = bench.wait_told("3 starts in a row ended in a reset, so I run in safe mode")
        assert told.endswith("Turn my power off and on to leave it.")
        bench.echo("alive")
        assert bench.log.count("(HARD start)") == 3
        bench.board.power_cycle()
        bench.wait_for("(PWRON start)")
        bench.wait_for("(HARD start)")
