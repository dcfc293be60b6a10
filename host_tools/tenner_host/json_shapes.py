"""The documents of `--json`, as types: docs/json.md and docs/json-schemas.json are made of them.

A text behind a type is the meaning of the field, with its unit where the name has none.
"""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

#: ISO 8601 with its zone.
TIME = "date-time"
Time = Annotated[str, TIME]
#: As in workspace/, or on the board.
Path = str
Scalar = str | int | float | bool | None


class Agent(TypedDict):
    running: bool
    text: Annotated[str, "its first line, or why it does not run"]


class Versions(TypedDict):
    tenner: str
    runtime: Annotated[str, "micropython or cpython"]
    runtime_version: str


class Heap(TypedDict):
    free_bytes: Annotated[int, "0 on CPython, which has no such limit"]
    used_bytes: int


class SystemMemory(TypedDict):
    free_bytes: int
    largest_block_bytes: int
    least_free_bytes: Annotated[int, "since the start"]


class Service(TypedDict):
    name: str
    state: Annotated[str, "running, failing or hanging"]
    failures: Annotated[int, "in a row"]
    last_error: str | None
    last_error_age_s: int | None


class SensorValue(TypedDict):
    name: Annotated[str, "sensor.value"]
    value: float
    unit: Annotated[str, '"" for none']
    at: Annotated[Time, "when it was read"]
    age_s: int


class Status(TypedDict):
    at: Annotated[Time | None, "the board's clock; null while it is not set"]
    versions: Versions
    uptime_s: int
    heap: Heap
    system_memory: Annotated[SystemMemory | None, "for Wi-Fi and TLS, where a chip has its own"]
    network_up: bool
    telegram: Annotated[str | None, "the state of its connection; null without a token"]
    unsent_messages: int
    services: list[Service]
    sensors: Annotated[list[SensorValue], "the newest reading of each that is stored"]


class Task(TypedDict):
    line: Annotated[int, "of HEARTBEAT.md; 0 for the tasks without a time of their own"]
    text: str
    next_in_s: Annotated[int | None, "null while it waits for the clock"]
    last_run_at: Time | None
    done: bool
    waits: Annotated[str | None, "the reason"]
    condition: str | None
    value: Annotated[float | None, "seen last, in the unit of the condition"]
    value_age_s: Annotated[int | None, "of a sensor that cannot be read now"]
    state: Annotated[str | None, "of the condition"]
    alarm: Annotated[int | None, "the ID of its open alarm"]
    told_at: Annotated[Time | None, "when its last message was sent"]


class Heartbeat(TypedDict):
    tasks: list[Task]


class Alarms(TypedDict):
    alarms: Annotated[list[Task], "every line with a condition"]
    answer: Annotated[str | None, "of ack, mute, unmute or why"]


class Decision(TypedDict):
    task: Annotated[str, "line N of HEARTBEAT.md, beat, or the ID of a job"]
    at: Time
    result: Annotated[str, "ran, skipped, failed ..."]
    reason: str | None
    sent: Annotated[str | None, "yes, queued, held, repeat or no"]
    tokens: int | None
    tokens_estimated: bool
    duration_ms: int | None
    times: Annotated[int, "equal decisions together"]
    since: Annotated[Time, "the first of them"]


class Why(TypedDict):
    decisions: Annotated[list[Decision], "oldest first"]
    next_in_s: Annotated[int | None, "null if nothing is due"]


class BeatLine(TypedDict):
    line: int
    text: Annotated[str, "the effect of its condition now"]


class HeartbeatNow(TypedDict):
    conditions: list[BeatLine]
    outcome: str


class Reading(TypedDict):
    line: int
    kind: Annotated[str, "alarm, timed, beat, job, background, done or off"]
    text: Annotated[str, "how the board understands it"]
    calls_per_day: Annotated[float | None, "of the model"]
    problem: str | None
    suggestion: Annotated[str | None, "the line as it would be right"]


class HeartbeatCheck(TypedDict):
    lines: list[Reading]


class LineText(TypedDict):
    line: int
    text: str


class HeartbeatCompile(TypedDict):
    calls: Annotated[int, "of the model"]
    lines: list[LineText]
    diff: Annotated[str, "for `patch`"]


class Message(TypedDict):
    time: Time
    line: Annotated[int, "of HEARTBEAT.md; 0 for none"]
    kind: Annotated[str, "alarm, repeat, end, digest or notice"]
    text: str


class HeartbeatReplay(TypedDict):
    messages: list[Message]
    model_calls: int
    tokens: int
    problems: list[LineText]
    cost_usd: float


class Chat(TypedDict):
    text: str
    answer: str


class Run(TypedDict):
    at: Annotated[Time | None, "null where the clock was not set"]
    uptime_s: Annotated[int | None, "at that time, where the clock was not set"]
    due_at: Time | None
    task: Annotated[str | None, "its mark in the run log; beat; null for a job"]
    job: Annotated[str | None, "the ID of a job"]
    line: Annotated[int | None, "of HEARTBEAT.md"]
    result: str
    reason: str | None
    sent: str | None
    tokens: int | None
    tokens_estimated: bool
    duration_ms: int | None


class Logs(TypedDict):
    runs: Annotated[list[Run], "oldest first"]


class LogLine(TypedDict):
    received_at: Annotated[Time, "by this computer's clock"]
    board_time: Annotated[str | None, "HH:MM:SS in the board's zone"]
    uptime_s: Annotated[float | None, "until the board's clock is set"]
    area: str | None
    text: str


class Point(TypedDict):
    at: Time
    value: float


class Series(TypedDict):
    name: Annotated[str, "sensor.value"]
    unit: str
    count: int
    min: float
    mean: float
    max: float
    value: Annotated[float, "the newest"]
    at: Annotated[Time, "of the newest"]
    readings: Annotated[list[Point], "oldest first"]


class Sensors(TypedDict):
    series: list[Series]


class Check(TypedDict):
    check: str
    state: Annotated[str, "ok, warn, fail or skip"]
    text: str
    do: Annotated[str, 'the remedy, "" for none']


class Doctor(TypedDict):
    checks: list[Check]


class Connected(TypedDict):
    port: str
    what: str
    state: str
    problem: Annotated[str | None, "why it could not be asked"]
    project: Annotated[bool, "it is this folder's board"]
    chip: str | None
    micropython: str | None
    agent: str | None
    flash_free_bytes: int | None
    seen_at: Annotated[Time | None, "when it told these facts"]


class Known(TypedDict):
    name: str
    product: str
    platform: str
    chip: str | None
    variants: list[str]


class Boards(TypedDict):
    connected: list[Connected]
    known: list[Known]


class Code(TypedDict):
    written: list[Path]
    removed: list[Path]
    unchanged: int
    bytes: int


class Step(TypedDict):
    path: Path
    action: Annotated[str, "push, pull, conflict, gone_here, gone_board, record or forget"]


class Sync(TypedDict):
    board: str
    micropython: str
    dry_run: bool
    code: Code
    workspace: list[Step]
    conflicts: list[Path]
    kept: list[Step]
    agent: Agent | None
    configured: bool
    seconds: float


class SyncBoard(Sync):
    heartbeat_problems: list[LineText]


class Release(TypedDict):
    file: str
    bytes: int
    version: str
    key: Annotated[str, "the ID of the key that signed it"]


class ReleaseKey(TypedDict):
    key: Annotated[str, "its file"]
    id: str


class Updated(TypedDict):
    board: str
    end: Annotated[str, "healthy, rolled back, refused, silent, away ..."]
    version: Annotated[str, 'that it runs now, "" if unknown']
    why: str
    log: Annotated[list[str], "the last lines of a version that failed its trial"]


class Update(TypedDict):
    boards: list[Updated]


class Back(TypedDict):
    release: Annotated[str, "that runs now"]


class SdCard(TypedDict):
    written: list[str]
    key: Annotated[bool, "it has a public key"]


class Pull(TypedDict):
    pulled: list[Path]
    conflicts: list[Path]


class BackupFile(TypedDict):
    file: str
    files: list[Path]
    bytes: Annotated[int, "of the files"]


class Restore(TypedDict):
    written: list[Path]
    agent: Agent


class Certificate(TypedDict):
    name: str
    hosts: list[str]
    expires: Annotated[str, "the day, YYYY-MM-DD"]


class SetupShow(TypedDict):
    settings: Annotated[dict[str, Any], "by key; a list of objects is its length"]
    secrets: Annotated[list[str], "keys that are set, whose values are not shown"]


class Setup(SetupShow):
    certificates: list[Certificate]
    unproven: Annotated[list[str], "a sentence for each server that could not be asked"]
    agent: Agent
    memory: Annotated[str | None, "a warning if connections may lack memory"]


class Key(TypedDict):
    key: str
    meaning: str


class SetupKeys(TypedDict):
    keys: list[Key]


class ImageAbout(TypedDict):
    source: str
    sha256: str
    bytes: int
    version: str


class Region(TypedDict):
    offset: Annotated[int, "in the flash, in bytes"]
    bytes: int


class Flash(TypedDict):
    port: str
    chip: str
    mac: str
    flash_bytes: int
    board: str
    image: ImageAbout
    slots: Annotated[bool, "it has two for MicroPython"]
    fast: bool
    saved: list[Path]
    replaced: list[Path]
    backup: Annotated[str | None, "the file"]
    files_written: int | None
    written: list[Region]
    micropython: str | None
    agent: Agent | None
    seconds: float
    memory: str | None


class FleetBoard(TypedDict):
    topic: str
    status: Annotated[str, "online, offline or unknown"]
    state: Annotated[dict[str, Any], "its own: name, version, up_s (seconds), heap_free (bytes)"]
    sensors: dict[str, dict[str, Scalar]]


class Fleet(TypedDict):
    boards: list[FleetBoard]


class Skill(TypedDict):
    name: str
    description: str
    files: list[str]
    installed: Annotated[bool, "the workspace has it"]


class Skills(TypedDict):
    skills: list[Skill]


class McpTool(TypedDict):
    name: Annotated[str, "the agent's"]
    title: Annotated[str, "the server's"]
    reads: Annotated[bool, "it only reads"]
    bytes: Annotated[int, "of its schema"]


class McpCall(TypedDict):
    tool: str
    error: bool
    text: str


class Mcp(TypedDict):
    url: str
    tools: list[McpTool]
    called: McpCall | None
    notes: list[str]


class Device(TypedDict):
    chip: str
    where: str
    fault: str | None
    faults: list[str]


class SimBoard(TypedDict):
    name: str
    state: str
    runtime: str
    chip: str
    pty: Annotated[str | None, "null while it is unplugged"]
    tcp: Annotated[int | None, "a port with its serial line"]
    rfc2217: Annotated[int | None, "a port with its serial line, DTR and RTS"]
    folder: str
    boots: int
    heap_free_bytes: int
    wifi_up: Annotated[bool, "the access point is on"]
    wifi_connected: bool
    true_time: Time
    board_time: Time
    signals: dict[str, float]
    devices: dict[str, Device]


class SimList(TypedDict):
    boards: list[SimBoard]


#: By the words of the command. One line of `logs --follow` is a document.
SHAPES: dict[str, type] = {
    "alarms": Alarms,
    "backup": BackupFile,
    "boards": Boards,
    "chat": Chat,
    "deploy": Sync,
    "deploy --back": Back,
    "doctor": Doctor,
    "flash": Flash,
    "fleet status": Fleet,
    "heartbeat": Heartbeat,
    "heartbeat --check": HeartbeatCheck,
    "heartbeat --compile": HeartbeatCompile,
    "heartbeat --now": HeartbeatNow,
    "heartbeat --replay": HeartbeatReplay,
    "logs": Logs,
    "logs --follow": LogLine,
    "mcp test": Mcp,
    "pull": Pull,
    "release": Release,
    "release --new-key": ReleaseKey,
    "restore": Restore,
    "sd-card": SdCard,
    "sensors": Sensors,
    "setup": Setup,
    "setup --keys": SetupKeys,
    "setup --show": SetupShow,
    "sim list": SimList,
    "skills list": Skills,
    "status": Status,
    "sync": SyncBoard,
    "update": Update,
    "why": Why,
}
