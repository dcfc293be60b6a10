# tenner tests: a board whose connections have no memory left restarts between turns and says so
# afterwards. MIT license; Copyright (c) 2026 the tenner authors

import unittest

from support import run, temp_folder
from tenner.channels.question import Question
from tenner.net.tls_reserve import TlsSemaphore
from tenner.runtime import memory_guard
from tenner.store import files


class Board:
    """The app, its port, its clock and its lane as far as the guard knows them."""

    again = False
    telegram = mqtt = None
    wifi = None

    def __init__(self, folder):
        self.state = folder
        self.semaphore = TlsSemaphore(1)
        self.agent = self.lane = self.port = self.clock = self.config = self
        self.memory = 60000, 50000, 30000
        self.resets = 0
        self.is_busy = False
        self.now = 1800000000
        self.up_s = 600
        self.told = []
        self.channels = []

    def get(self, name):
        return {
            "semaphore": self.semaphore,
            "wifi": self.wifi,
            "telegram.base_url": "https://api.telegram.org",
        }[name]

    def has(self, name):
        return name == "wifi" and self.wifi is not None

    def system_memory(self):
        return self.memory

    def reset(self):
        self.resets += 1

    def busy(self):
        return self.is_busy

    def mono_s(self):
        return self.up_s

    def known(self):
        return self.now

    def now_text(self):
        return "Sunday 14:03"

    def owner(self):
        return "telegram", "1"

    def deliver(self, channel, chat, text):
        self.channels.append(channel)
        self.told.append(text)


class Mqtt:
    owner = "answer"


class Telegram:
    """Its pending questions, by id."""

    asks = {}


class Wifi:
    lacks_memory = False


class Reserve:
    fits = True
    lack = None
    is_new = told = False

    def take(self):
        return self.fits

    def sentence(self):
        return "a connection to %s takes %d KB of memory" % self.lack

    def tell(self):
        self.told, was_told = True, self.told
        return not was_told


class TestGuard(unittest.TestCase):
    def setUp(self):
        self.board = Board(temp_folder(self))

    def restart(self):
        run(memory_guard.restart_if_short(self.board))
        return self.board.resets

    def tell(self):
        run(memory_guard.report(self.board))
        return self.board.told

    def test_all_is_well(self):
        self.assertFalse(memory_guard.needs_look(self.board))
        self.assertEqual(self.restart(), 0)

    def test_a_message_that_waits_restarts_the_board(self):
        self.board.again = True
        self.assertTrue(memory_guard.needs_look(self.board))
        self.assertEqual(self.restart(), 1)

    def test_what_is_short(self):
        board = self.board
        board.memory = 7000, 6000, 900
        self.assertTrue(memory_guard.needs_look(board) and memory_guard.is_short(board))
        board.memory = 60000, 50000, 900
        self.assertFalse(memory_guard.is_short(board))
        board.semaphore.reserve = Reserve()
        self.assertFalse(memory_guard.is_short(board))
        board.semaphore.reserve.fits = False
        self.assertTrue(memory_guard.is_short(board))
        board.semaphore.reserve = None
        for count in (1, 2):
            board.semaphore.lacked_memory(OSError(12))
            self.assertTrue(memory_guard.needs_look(board))
            self.assertFalse(memory_guard.is_short(board), count)
        board.semaphore.lacked_memory(OSError(12))
        self.assertTrue(memory_guard.is_short(board))

    def test_where_a_restart_cannot_help_the_owner_is_told_once_instead(self):
        board = self.board
        board.semaphore.reserve = Reserve()
        board.semaphore.reserve.lack = "model.example", 46
        for _ in range(2):
            board.semaphore.shortages = 3
            self.assertEqual(self.restart(), 0)
        said = "Memory is too short: a connection to model.example takes 46 KB of memory."
        self.assertEqual(board.told, [said])
        # Another lack still restarts it.
        board.memory = 7000, 6000, 900
        self.assertEqual(self.restart(), 1)

    def test_the_owner_is_not_told_by_the_channel_that_has_no_connection(self):
        board = self.board
        board.semaphore.reserve = Reserve()
        board.semaphore.reserve.lack = "api.telegram.org", 46
        board.semaphore.shortages = 3
        self.assertEqual(self.restart(), 0)
        self.assertEqual(board.told, [])
        board.semaphore.reserve.told = False
        board.mqtt = Mqtt
        self.assertEqual(self.restart(), 0)
        self.assertEqual(board.channels, ["mqtt"])

    def test_wifi_that_cannot_start_restarts_the_board(self):
        self.board.wifi = Wifi()
        self.assertFalse(memory_guard.needs_look(self.board))
        self.board.wifi.lacks_memory = True
        self.assertTrue(memory_guard.needs_look(self.board))
        self.assertEqual(self.restart(), 1)

    def test_a_stalled_exchange_ends_at_the_tenth_look(self):
        ended = []
        self.board.semaphore.fail = ended.append
        looks = 0
        for free in [2900] * 9 + [40000] + [2900] * 9:
            self.board.memory = free, free, 500
            looks = memory_guard.end_stalled(self.board, looks)
            self.assertEqual(ended, [])
        self.assertEqual(memory_guard.end_stalled(self.board, looks), 0)
        self.assertEqual([error.args for error in ended], [(12,)])

    def test_a_question_that_no_connection_can_take_fails(self):
        board = self.board
        board.telegram = Telegram()
        waiting, sent = Question("Open?"), Question("Close?")
        sent.message_id = 7
        board.telegram.asks = {waiting.id: waiting, sent.id: sent}
        for count in (1, 2, 3):
            self.assertIsNone(waiting.failure, count)
            board.semaphore.lacked_memory(OSError(12))
            memory_guard.end_stalled(board, 0)
        self.assertTrue("too little memory" in waiting.failure)
        self.assertIsNone(sent.failure)
        with self.assertRaises(OSError):
            run(waiting.wait(5))

    def test_a_restart_waits_for_the_turn_and_is_told_once(self):
        board = self.board
        board.memory = 5000, 2000, 444
        board.is_busy = True
        self.assertEqual(self.restart(), 0)
        board.is_busy = False
        board.up_s = 30
        self.assertEqual(self.restart(), 0)
        board.up_s = 60
        self.assertEqual(self.restart(), 1)
        self.assertTrue(files.exists(memory_guard.note(board)))
        self.assertEqual(
            self.tell(),
            [
                (
                    "I restarted myself (Sunday 14:03): the memory for Wi-Fi and TLS had run out "
                    "(4 KB free, 1 KB of it in one block, 0 KB at the least)."
                )
            ],
        )
        # The next boot has nothing to tell, and so has a restart within the hour.
        self.assertEqual(len(self.tell()), 1)
        board.now += 1800
        self.assertEqual(self.restart(), 2)
        self.assertEqual(len(self.tell()), 1)
        board.now += 1801
        self.assertEqual(self.restart(), 3)
        self.assertEqual(len(self.tell()), 2)


if __name__ == "__main__":
    unittest.main()
