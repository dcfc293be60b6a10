"""Run the measurements, print the table and write build/bench.json after every row. With
PYTHONPATH=firmware, as `make bench` sets it:

python -m tests.bench                  everything
python -m tests.bench heap. flash.     the rows whose names start so
python -m tests.bench web.             how pages are read, one by one
python -m tests.bench overlay. tool.   the heap of each overlay, and each tool in a prompt
python -m tests.bench riscv64.         Linux figures on an emulated board; they take minutes
PORT=... python -m tests.bench chip.       a real board, or an emulator of one, through its whole life
python -m tests.bench soak.            2,000 messages and 500 alerts amid faults, several times; half an hour and more
"""  # noqa: E501

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from tenner_host import ROOT, tenner_version
from tenner_sim.vboard import BoardError
from tests import provider_requests
from tests.bench import (
    board,
    chart,
    chip_page,
    code,
    cpu,
    esp32,
    flash,
    heap,
    linux,
    loaded,
    media,
    mixed,
    mqtt,
    page,
    remote,
    requests,
    riscv64,
    schedule,
    soak,
    sync,
    update,
    web,
)
from tests.bench.agent import Died
from tests.bench.rows import NotMeasured, Row

BROKEN = "the bench itself failed"
OUTPUT = ROOT / "build" / "bench.json"

#: The budgets of the design and the figures without one, in the order the table prints them.
ROWS = [
    Row("heap.turn.min_kb", "smallest heap for a turn with a tool", "KB", heap.turn_min_kb, 88, "371"),  # noqa: E501
    Row(
        "heap.turn.min_kb.history10k",
        "the same with a history of 10,000 messages",
        "KB",
        heap.turn_min_history_kb,
        112,
        "grows",
    ),
    Row(
        "heap.turn.min_kb.long_reply",
        "an answer of 4,000 characters in 1-byte chunks",
        "KB",
        heap.turn_min_long_reply_kb,
        96,
    ),
    Row(
        "heap.turn.min_kb.long_message",
        "a turn with a tool about 4,000 characters",
        "KB",
        heap.turn_min_long_message_kb,
        96,
    ),
    Row(
        "heap.turn.min_kb.mcp",
        "the same with an MCP server's tool",
        "KB",
        heap.turn_min_mcp_kb,
        96,
    ),
    Row("heap.turn.min_kb.approval", "the same when the owner approves it", "KB", heap.turn_min_approval_kb, 96),  # noqa: E501
    Row("heap.tools.min_kb", "turns with each tool, nothing short", "KB", heap.all_tools_min_kb, 100),  # noqa: E501
    Row("heap.turn.min_kb.web", "the same with a page of 200 KB", "KB", web.turn_min_kb, 96),
    Row("heap.turn.min_kb.mqtt", "the same with MQTT connected", "KB", mqtt.turn_min_kb, 112),
    *(
        Row(f"heap.command.{name}.min_kb", f"the command /{name}", "KB", measure, 96)
        for name, measure in (
            ("heartbeat", heap.command_min_kb("/heartbeat", "now: ")),
            ("why", heap.command_min_kb("/why", "next: ")),
            ("alarms", heap.command_min_kb("/alarms", "room.temperature")),
            ("status", heap.command_min_kb("/status", "outbox: ")),
        )
    ),
    Row("heap.chart.min_kb", "a picture of readings, by /chart", "KB", chart.command_min_kb, 100),
    Row("heap.chart.turn.min_kb", "the same by a turn with its tool", "KB", chart.turn_min_kb, 100),  # noqa: E501
    Row("heap.photo.min_kb", "a turn about a photo of 800 x 600", "KB", media.photo_min_kb, 100),
    Row("heap.voice.min_kb", "a turn about a voice note", "KB", media.voice_min_kb, 100),
    *chip_page.ROWS,
    Row("heap.update.min_kb", "an update over the network", "KB", update.min_kb, 88),
    Row("heap.update.remote.min_kb", "the same from your computer, over MQTT", "KB", remote.update_min_kb, 112),  # noqa: E501
    Row("heap.update.lan.min_kb", "the same straight over the network", "KB", remote.update_lan_min_kb, 112),  # noqa: E501
    Row("heap.remote.min_kb", "requests of the owner's computer, over MQTT", "KB", remote.min_kb, 112),  # noqa: E501
    Row("heap.remote.lan.min_kb", "the same straight over the network", "KB", remote.lan_min_kb, 112),  # noqa: E501
    Row("update.time", "an update's time per that of a sync", "ratio", update.time_ratio),
    Row("update.bytes", "its bytes per those of the sync", "ratio", update.bytes_ratio, 2),
    Row("update.remote.time", "its time from your computer, over MQTT", "ratio", update.remote_time_ratio),  # noqa: E501
    Row("update.remote.bytes", "its bytes so", "ratio", update.remote_bytes_ratio, 2),
    Row("update.lan.time", "its time straight over the network, with the page", "ratio", update.lan_time_ratio),  # noqa: E501
    Row("update.lan.bytes", "its bytes so", "ratio", update.lan_bytes_ratio, 2),
    Row("update.flash.erases", "blocks it erases", "erases", update.erases, 200),
    Row("update.flash.kb", "KB it writes to flash", "KB", update.written_kb, 400),
    Row("heap.mixed.min_kb", "people, an alarm and the outbox at once", "KB", mixed.min_kb, 96),
    Row("heap.romfs.turn.min_kb", "a turn, code in a ROMFS image", "KB", heap.romfs_turn_min_kb, 60),  # noqa: E501
    Row("heap.romfs.mixed.min_kb", "mixed use, code in a ROMFS image", "KB", mixed.romfs_min_kb, 64),  # noqa: E501
    Row("heap.frozen.turn.min_kb", "a turn, frozen code", "KB", heap.frozen_turn_min_kb, 44),
    Row("heap.frozen.mixed.min_kb", "mixed use, frozen code", "KB", mixed.frozen_min_kb, 48),
    *esp32.ROWS,
    Row("heap.idle_import_kb", "importing the core", "KB", code.idle_import_kb, 45, "213"),
    Row("heap.idle_live_kb", "everything the idle agent holds", "KB", heap.idle_live_kb, 48),
    Row("heap.mqtt_kb", "heap for the code of MQTT that stays", "KB", loaded.mqtt_kb),
    Row("heap.history_growth_kb", "heap for 10,000 messages, not 10", "KB", heap.history_growth_kb, 2, "grows"),  # noqa: E501
    Row("heap.web_growth_kb", "heap for a page of 2 MB, not 20 KB", "KB", web.heap_growth_kb, 1, "grows"),  # noqa: E501
    Row(
        "heap.live_growth_1000_turns_kb",
        f"growth of live heap, turns 50 to 1,000, in {heap.LONG_RUN_KB} KB",
        "KB",
        heap.live_growth_kb,
        0,
        "",
    ),
    Row("cpu.turn.imports", "imports of a turn with a tool", "modules", cpu.turn_imports, 25),
    Row("cpu.turn.opcodes", "its opcodes", "opcodes", cpu.turn_opcodes, 230_000),
    Row("cpu.turn.allocated_kb", "its allocations", "KB", cpu.turn_allocated_kb, 1200),
    Row("cpu.turn.collections", "its collections of garbage", "times", cpu.turn_collections, 150),
    Row("cpu.poll.opcodes", "a poll that finds nothing", "opcodes", cpu.poll_opcodes, 2000),
    Row("cpu.history10k.first_turn_x", "opcodes, history 10,000 against 10", "times", cpu.history_factor, 3),  # noqa: E501
    Row("flash.littlefs_kb", "flash that all files take", "KB", flash.littlefs_kb, 400),
    Row("flash.erases_per_turn", "flash erases of a turn", "blocks", requests.erases_per_turn, 4, "1 a message"),  # noqa: E501
    Row("flash.erases_of_readings", "flash erases of a day of 3 values", "blocks", requests.erases_of_readings),  # noqa: E501
    Row("request.heartbeat_bytes", "first request of a heartbeat", "B", requests.heartbeat_bytes, 4096, "6758"),  # noqa: E501
    Row("heartbeat.idle_day_model_calls", "model calls, 3 conditions, an idle day", "calls", schedule.idle_day_model_calls, 0, "1 a beat"),  # noqa: E501
    Row("heartbeat.day_bytes.template", "prompts of a day, template untouched", "B", schedule.template_bytes, 0),  # noqa: E501
    Row("heartbeat.day_bytes.conditions", "3 conditions, one true from noon, fires once", "B", schedule.condition_bytes),  # noqa: E501
    Row("heartbeat.day_bytes.ten_tasks", "10 plain tasks, 48 beats", "B", schedule.ten_tasks_bytes),  # noqa: E501
    Row("rss.micropython_mb", "idle agent on Linux after 100 turns", "MB", linux.rss_micropython_mb, 4, "10-20"),  # noqa: E501
    Row("rss.cpython_mb", "the same under CPython", "MB", linux.rss_cpython_mb, 20, "10-20"),
    Row("pss.micropython_mb", "its share of pages that other processes map too", "MB", linux.pss_micropython_mb),  # noqa: E501
    Row("pss.cpython_mb", "the same under CPython", "MB", linux.pss_cpython_mb),
    Row("start.micropython", "start to the first poll, as python3 -c pass", "times", linux.start_micropython),  # noqa: E501
    Row("start.cpython", "the same under CPython", "times", linux.start_cpython),
    Row("sync.deploy_vs_mpremote", "time of a full deploy, mpremote's is 1", "", sync.deploy_time, 0.33, "1"),  # noqa: E501
    Row("sync.deploy_vs_mpremote.trips", "its round trips", "", sync.deploy_trips, 0.33, "1"),
    Row("sync.unchanged_vs_mpremote", "time when nothing has changed", "", sync.unchanged_time, 0.1, "1"),  # noqa: E501
    Row("sync.unchanged_vs_mpremote.trips", "its round trips", "", sync.unchanged_trips, 0.1, "1"),
    Row("sync.deploy_vs_mpremote.pty", "a deploy on a pseudo-terminal", "", sync.deploy_time_pty, 0.33, "1"),  # noqa: E501
    Row("sync.unchanged_vs_mpremote.pty", "nothing changed, on a pseudo-terminal", "", sync.unchanged_time_pty, 0.1, "1"),  # noqa: E501
    Row("sync.enter_repl_ms", "to the REPL of a busy board", "ms", sync.enter_repl_ms),
    Row("web.similarity.lxml", "words of a page as lxml reads them, least", "", web.least_lxml, web.LEAST["lxml"], floor=True),  # noqa: E501
    Row("web.similarity.html2text", "the same beside html2text", "", web.least_html2text, web.LEAST["html2text"], floor=True),  # noqa: E501
    *page.ROWS,
    Row("lane.person_wait_ms", "a person's wait while a heartbeat streams", "ms", requests.person_wait_ms),  # noqa: E501
]  # fmt: skip


#: Rows that take long: they are measured only on request.
ON_REQUEST = [*board.ROWS, *riscv64.ROWS, *soak.ROWS]


def collect(rows: list[Row], keep: Callable[[], None]) -> None:
    """Measure every row, or keep the reason it cannot be measured; call `keep` after each."""
    for row in rows:
        print(f"measuring {row.name} ...", file=sys.stderr, flush=True)
        try:
            row.value = round(row.measure(), 2)
        except (NotMeasured, BoardError, Died, TimeoutError) as exc:
            row.note = str(exc)
        except Exception as exc:  # a broken row must not stop the others
            traceback.print_exc()
            row.note = f"{BROKEN}: {exc!r}"
        keep()


def write(rows: list[Row]) -> None:
    """Write build/bench.json: the rows measured so far."""
    done = [row.as_json() for row in rows if row.value is not None or row.note]
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")


def show(rows: list[Row], console: Console) -> None:
    table = Table(title=f"tenner {tenner_version()}", title_justify="left", box=None)
    table.add_column("figure", no_wrap=True)
    table.add_column("what")
    for heading in ("measured", "budget", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("best peer", no_wrap=True)
    for row in rows:
        measured = "-" if row.value is None else f"{row.value:g} {row.unit}"
        budget = "" if row.budget is None else f"{'>= ' if row.floor else ''}{row.budget:g}"
        verdict = {None: "", True: "ok", False: "under" if row.floor else "over"}[row.ok]
        table.add_row(row.name, row.what, measured, budget, verdict, row.peer)
    console.print(table, markup=False)
    for row in rows:
        if row.note:
            console.print(f"{row.name}: {row.note}", markup=False, highlight=False)


def main(argv: list[str]) -> int:
    provider_requests.install()
    parts = [row for row in loaded.rows() if not argv or row.name.startswith(tuple(argv))]
    rows = [row for row in ROWS if not argv or row.name.startswith(tuple(argv))]
    if argv:
        rows += [row for row in ON_REQUEST if row.name.startswith(tuple(argv))]
    if not rows and not parts:
        print(
            f"tenner: no row starts with {' or '.join(argv)}; rows: "
            + ", ".join(r.name for r in ROWS + ON_REQUEST)
            + ", overlay., tool."
        )
        return 2

    def keep() -> None:
        write(rows + parts)

    collect(rows, keep)
    if rows:
        show(rows, Console())
    if any(row.value is not None for row in rows if row.name.startswith("web.similarity.")):
        web.show(Console())
    collect(parts, keep)
    if parts:
        loaded.show(parts, Console())
    print(f"written to {OUTPUT.relative_to(ROOT)}")
    return 1 if any(row.note.startswith(BROKEN) for row in rows + parts) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
