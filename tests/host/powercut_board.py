# tenner tests: a board whose power may fail anywhere in a beat; run by test_schedule_powercut.
# MIT license; Copyright (c) 2026 the tenner authors
"""
    micropython powercut_board.py make IMAGE              a board that was just set up
    micropython powercut_board.py cut IMAGE torn          a beat; IMAGE.N is the flash after a cut
                                                          at operation N
    micropython powercut_board.py after IMAGE.N           the boot after that, and its outcome

The flash is a real littlefs in memory, and IMAGE is its content. A cut leaves the flash as it is
before the operation, or with half of it done; nothing is unwound, as when the power fails.

Garbage is collected between two steps only. While littlefs opens a file, nothing but a pointer
into the middle of it is on MicroPython's stack, and a collection inside a block device that is
Python frees it.
"""

import gc
import json
import os
import sys

from ram_flash import ERASED, RamFlash
from vfs import VfsLfs2, mount, umount

import schedule_sim as sim
from tenner.agent import background
from tenner.agent.agent import Session
from tenner.channels.delivery import Delivery
from tenner.schedule.due import period_start
from tenner.store import files, outbox
from tenner.store.config import Config
from tenner.store.outbox import Outbox

sim.quiet()
gc.disable()

BLOCKS = 20
ROOT = "/cut"
CONFIG = '{"name": "cut"}'
HEARTBEAT = (
    "# Heartbeat\n"
    "- Check the door.\n"
    "- (every 10m) Look at the tank.\n"
    "- (every 10m; when tank.level < 20 reset 25; notify) Tank low: {tank.level}\n"
    "- (every 5m; when tank.level > 90) Too full.\n"
    "- [%s] Order seeds.\n"
)
# The model's answer about the door: two parts for the channel.
DOOR = "The door is open.\n\nIt has been so for a while."
MAYBE = "(maybe sent before) "
# The end of an alert that a cut has delayed.
LATE = " (at"
# A beat and the tasks due around it; then long enough for all of them to be due again.
CUT_S = 1500
AFTER_S = 1800


class Phone:
    """The application as `background` sees it, and the delivery of a channel."""

    max_units = 50
    untrusted_reports = False

    def __init__(self, board):
        self.board = board
        self.agent = self
        self.config = Config()
        outbox = Outbox(board.state, board.clock)
        self.delivery = Delivery(outbox, self.owner, board.service.confirm)
        self.delivery.register("telegram", self)

    def owner(self):
        return "telegram", "1"

    def get(self, name):
        return getattr(self, name)

    def session(self, channel, chat):
        """Its file would be one more write to cut; nothing here depends on it."""
        return Session("/dev/null", 4096)

    def deliver(self, channel, chat, text, alert):
        return self.delivery.deliver(channel, chat, text, alert)

    async def send(self, chat, text, reply_to, began, alarm):
        began()
        self.board.sent.append((self.board.clock.utc, text))
        return "ok", 1


class Board(sim.Board):
    """
    The heartbeat with its own files; alerts go through the outbox to the owner's phone. It keeps
    the events for the judge.
    """

    def __init__(self, image):
        self.image = image
        self.chip = None
        self.ran = []  # [utc, task] of each model call
        sim.Board.__init__(self, "")
        self.readings["tank"] = {"level": 10}
        self.reply = self.think

    def plug_in(self, chip):
        self.chip = chip
        mount(VfsLfs2(chip, mtime=False), ROOT)
        outbox.urandom = ids_from(self.clock.utc)
        self.boot()

    def boot(self, trusted=None):
        self.flash = None
        self.workspace, self.state = ROOT + "/workspace", ROOT + "/state"
        sim.Board.boot(self, trusted)
        self.phone = Phone(self)

    def step(self, *forced):
        """Send the messages queued at the last step first: in between, they wait."""
        gc.collect()
        sim.drive(self.phone.delivery.drain())
        return sim.Board.step(self, *forced)

    async def deliver_alert(self, text, mark):
        return await background.deliver(self.phone, text, mark)

    def think(self, prompt):
        for task in ("Check the door", "Look at the tank"):
            if task in prompt:
                self.ran.append([self.clock.utc, task])
        # As its tools would: it ticks a box in its own file.
        files.write_atomic(self.workspace + "/HEARTBEAT.md", HEARTBEAT % "x")
        return sim.Result(DOOR if "door" in prompt else tank_text(self.clock.utc))

    def keep(self, path):
        """Write the flash, and the events so far, where the next process finds them."""
        with open(path, "wb") as file:
            file.write(self.image)
        with open(path + ".json", "w") as file:
            file.write(json.dumps([self.clock.utc, self.ran, self.sent]))


def ids_from(number):
    """
    Stand in for os.urandom with numbers that count up. littlefs chooses its blocks by the content
    of the flash: with random bytes there, as with the time of day, a beat would take more
    operations in one run than in the next.
    """

    def urandom(size):
        nonlocal number
        number += 1
        return number.to_bytes(size, "big")

    return urandom


def load(path):
    """A board as `keep` left it."""
    with open(path, "rb") as file:
        board = Board(bytearray(file.read()))
    with open(path + ".json") as file:
        board.clock.utc, board.ran, board.sent = json.loads(file.read())
    return board


def make(path):
    """The timers have started, nothing has run."""
    image = bytearray(ERASED * BLOCKS)
    VfsLfs2.mkfs(RamFlash(image))
    board = Board(image)
    mount(VfsLfs2(RamFlash(image), mtime=False), ROOT)
    os.mkdir(ROOT + "/workspace")
    os.mkdir(ROOT + "/state")
    files.write_atomic(ROOT + "/config.json", CONFIG)
    files.write_atomic(ROOT + "/workspace/HEARTBEAT.md", HEARTBEAT % " ")
    board.boot()
    board.step()
    umount(ROOT)
    board.keep(path)
    return "made"


def cut(path, torn):
    board = load(path)

    def keep(number):
        board.keep("%s.%d" % (path, number))

    board.plug_in(RamFlash(board.image, bool(torn), keep))
    board.pass_time(CUT_S)
    return "%d %d %d" % (board.chip.operations, len(board.ran), len(board.sent))


def after(path):
    board = load(path)
    board.clock.pass_s(30)
    board.plug_in(RamFlash(board.image))
    board.pass_time(AFTER_S)
    return judge(board) or "ok"


def judge(board):
    """None, or which promise is broken."""
    with open(ROOT + "/config.json") as file:
        if file.read() != CONFIG:
            return "config.json is not whole"
    with open(ROOT + "/workspace/HEARTBEAT.md") as file:
        if file.read() not in (HEARTBEAT % " ", HEARTBEAT % "x"):
            return "HEARTBEAT.md is not whole"
    for name in os.listdir(ROOT + "/state"):
        if name.endswith(".bad"):
            return "a file was corrupt: " + name
    problem = said(board)
    if problem:
        return problem
    slots = [(task, period_start(*(grid(board, task) + (utc,)))) for utc, task in board.ran]
    for slot in slots:
        if slots.count(slot) > 1:
            return "ran twice in its slot: %s %d" % slot
    for task in board.service.tasks:
        problem = lines_of(board, task)
        if problem:
            return problem
    return None


def tank_text(utc):
    return "The tank at %d." % utc


def said(board):
    """None when every alert that was queued has arrived, and once, but for one that says
    "maybe"."""
    if len(board.phone.delivery.outbox):
        return "something waits in the outbox for ever"
    texts = [text for _, text in board.sent]
    for text in texts:
        if texts.count(text) > 1:
            return "said twice: " + text
    names = {task.line: task.name() for task in board.service.tasks}
    for line in board.lines():
        if line.get("sent") not in ("queued", "repeat"):
            continue
        if line["k"] == names[4]:
            parts = ["Tank low: 10 % (limit 20)"]
        elif "beat" in (line["k"], line.get("with")):
            parts = DOOR.split("\n\n")
        else:
            parts = [tank_text(line["t"])]
        for part in parts:
            if not any(text.split(LATE)[0] in (part, MAYBE + part) for text in texts):
                return "queued and lost: %s; sent: %s" % (part, texts)
    return None


def grid(board, text):
    beat, look = board.service.tasks[:2]
    task = beat if text == "Check the door" else look
    return task.every_s, task.phase_s


def lines_of(board, task):
    """None when each slot of the task has one line, that of an interrupted run in its slot."""
    found = []
    for line in board.lines():
        if line["k"] == task.name():
            found.append(period_start(task.every_s, task.phase_s, line["due"]))
    expected = []
    at = period_start(task.every_s, task.phase_s, sim.START) + task.every_s
    while at <= board.clock.utc:
        expected.append(at)
        at += task.every_s
    if sorted(found) != expected:
        return "lines of task %d: %s, expected %s" % (task.line, found, expected)
    return None


if sys.argv[1] == "make":
    print(make(sys.argv[2]))
elif sys.argv[1] == "cut":
    print(cut(sys.argv[2], sys.argv[3]))
else:
    print(after(sys.argv[2]))
