# tenner tests: power cuts at every flash operation of a beat, on a real littlefs in memory.
# MIT license; Copyright (c) 2026 the tenner authors

import os
import sys
import unittest

import schedule_sim as sim
from tenner.schedule.book import name_of
from tenner.schedule.heartbeat import Heartbeat
from tenner.schedule.slots import slot_start
from tenner.store import files

try:
    from vfs import VfsLfs2, mount, umount
except ImportError:
    VfsLfs2 = None

sim.quiet()
files.log = sim._silent

BLOCK = 4096
BLOCKS = 20
ERASED = b"\xff" * BLOCK
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
# A beat and what is due round it; then long enough for all of it to be due again.
CUT_S = 1500
AFTER_S = 1800


class RamFlash:
    """A flash chip. Its operation number `cut_at` is not done, or half, and nothing is from there on."""

    def __init__(self, image, cut_at=-1, torn=False):
        self.image = memoryview(image)
        self.cut_at = cut_at
        self.torn = torn
        self.operations = 0
        self.is_on = True

    def _operation(self, start, data):
        if not self.is_on:
            return -5
        size = len(data)
        if self.operations == self.cut_at:
            # An error and no exception: littlefs does not survive being left from within.
            self.is_on = False
            size = size // 2 if self.torn else 0
        self.operations += 1
        self.image[start : start + size] = memoryview(data)[:size]
        return 0 if self.is_on else -5

    def readblocks(self, block, buf, offset=0):
        if not self.is_on:
            return -5
        start = block * BLOCK + offset
        buf[:] = self.image[start : start + len(buf)]
        return 0

    def writeblocks(self, block, buf, offset=0):
        return self._operation(block * BLOCK + offset, buf)

    def ioctl(self, what, block):
        if what == 4:
            return BLOCKS
        if what == 5:
            return BLOCK
        if what == 6:
            return self._operation(block * BLOCK, ERASED)
        return 0


class Board(sim.Board):
    """The heartbeat with its own files; what happened is kept to be judged."""

    def __init__(self, image):
        self.image = image
        self.flash_chip = None
        self.ran = []  # (utc, task) of what a model was asked
        self.doubtful = []
        sim.Board.__init__(self, "", flash=sim.Flash(""))
        self.readings["tank"] = {"level": 10}
        self.reply = self.think

    def path(self, name):
        return ROOT + "/" + name

    def plug_in(self, cut_at=-1, torn=False):
        self.flash_chip = RamFlash(self.image, cut_at, torn)
        mount(VfsLfs2(self.flash_chip), ROOT)
        self.boot()

    def pull_out(self):
        self.flash_chip.is_on = False
        try:
            umount(ROOT)
        except OSError:
            pass  # without power nothing can be written any more
        self.heartbeat = None

    def check_power(self):
        """Nothing happens after a cut, also when somebody takes it for a bad file."""
        if not self.flash_chip.is_on:
            raise sim.PowerCut

    def step(self, forced=False):
        try:
            answer = sim.Board.step(self, forced)
        except OSError:
            self.check_power()
            raise
        self.check_power()
        return answer

    async def deliver(self, text):
        self.check_power()
        return await sim.Board.deliver(self, text)

    def boot(self):
        self.clock.mono = 0
        self.heartbeat = Heartbeat(
            self,
            self,
            self.clock,
            self.part,
            self,
            self.run_turn,
            self.deliver,
            self.notices.append,
            self.online,
        )

    def think(self, prompt):
        self.check_power()
        for task in ("Check the door", "Look at the tank"):
            if task in prompt:
                self.ran.append((self.clock.utc, task))
        # As its tools would: it ticks a box in its own file.
        files.write_atomic(self.path("workspace/HEARTBEAT.md"), HEARTBEAT % "x")
        return sim.Result("The door is open.")


def make_image():
    """A board that has just been set up: the tasks are seated, nothing has run."""
    image = bytearray(ERASED * BLOCKS)
    VfsLfs2.mkfs(RamFlash(image))
    board = Board(image)
    board.flash_chip = RamFlash(image)
    mount(VfsLfs2(board.flash_chip), ROOT)
    os.mkdir(ROOT + "/workspace")
    files.write_atomic(ROOT + "/config.json", CONFIG)
    files.write_atomic(ROOT + "/workspace/HEARTBEAT.md", HEARTBEAT % " ")
    board.boot()
    board.step()
    board.pull_out()
    return image


class Cuts(unittest.TestCase):
    def setUp(self):
        if VfsLfs2 is None:
            self.skipTest("littlefs is in MicroPython only")
        if sys.maxsize < 1 << 32:
            self.skipTest("MicroPython 1.25 with 32-bit words crashes after an error in littlefs")

    def test_a_cut_at_every_flash_operation_of_a_beat(self):
        self.sweep(False)

    def test_a_cut_in_the_middle_of_every_flash_operation(self):
        self.sweep(True)

    def sweep(self, torn):
        base = make_image()
        board = Board(bytearray(base))
        board.plug_in()
        board.pass_time(CUT_S)
        count = board.flash_chip.operations
        board.pull_out()
        # Or the test would say nothing.
        self.assertGreater(len(board.ran), 2)
        self.assertEqual(len(board.sent), 2)
        image = bytearray(len(base))
        for cut_at in range(count):
            image[:] = base
            self.live(Board(image), cut_at, torn)
        # Both sweeps together: at least two hundred.
        self.assertGreater(count, 100)

    def live(self, board, cut_at, torn):
        board.plug_in(cut_at, torn)
        try:
            board.pass_time(CUT_S)
            self.fail("no cut at %d" % cut_at)
        except sim.PowerCut:
            pass
        # What was on its way at that moment may be said again.
        board.doubtful = [text for utc, text in board.sent if utc == board.clock.utc]
        board.pull_out()
        board.clock.pass_s(30)
        board.plug_in()
        board.pass_time(AFTER_S)
        problem = self.judge(board)
        board.pull_out()
        self.assertEqual(problem, None, "cut at %d" % cut_at)

    def judge(self, board):
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
        said = [text for _, text in board.sent]
        for text in said:
            if said.count(text) > 1 + board.doubtful.count(text):
                return "said twice: " + text
        slots = [(task, slot_start(*(self.grid(board, task) + (utc,)))) for utc, task in board.ran]
        for slot in slots:
            if slots.count(slot) > 1:
                return "ran twice in its slot: %s %d" % slot
        for task in board.heartbeat.tasks:
            problem = self.lines_of(board, task)
            if problem:
                return problem
        return None

    def grid(self, board, text):
        beat, look = board.heartbeat.tasks[:2]
        task = beat if text == "Check the door" else look
        return task.every_s, task.phase_s

    def lines_of(self, board, task):
        """None when each slot of the task has one line, that of an interrupted run in its slot."""
        found = []
        for line in board.lines():
            if line["k"] == name_of(task.key):
                found.append(slot_start(task.every_s, task.phase_s, line["due"]))
        expected = []
        at = slot_start(task.every_s, task.phase_s, sim.START) + task.every_s
        while at <= board.clock.utc:
            expected.append(at)
            at += task.every_s
        if sorted(found) != expected:
            return "lines of task %d: %s, expected %s" % (task.line, found, expected)
        return None


if __name__ == "__main__":
    unittest.main()
