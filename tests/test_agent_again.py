# tenner tests: a message whose turn had no memory for a connection is asked once more.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from support import run, temp_folder
from tenner.agent import answer
from tenner.agent.message_queue import Message, Queue
from tenner.agent.turn import Result, Turn
from tenner.net.tls_reserve import TlsSemaphore
from tenner.store import files


class Board:
    """The app, its port and its Telegram as far as the module knows them."""

    def __init__(self, folder):
        self.state = folder
        self.port = self.telegram = self
        self.shares_memory = True
        self.semaphore = TlsSemaphore(1)
        self.semaphore.shortages = 2
        self.again = False
        self.inbox = Queue(8)
        self.open = []
        self.offset = 7
        self.saved = []

    def get(self, name):
        return {"semaphore": self.semaphore}[name]

    def done(self, message):
        self.open.remove(message)

    def save(self, offset):
        self.saved.append((offset, len(self.open)))


def message_in(board):
    message = Message("telegram", "1000", "Is the \u00fcber-door open?", "1000")
    message.reply_to = 12
    message.by_owner = False
    board.open.append(message)
    return message


def failed():
    result = Result()
    result.error = "I could not get an answer"
    result.outage = True
    return result


class TestAgain(unittest.TestCase):
    def setUp(self):
        self.board = Board(temp_folder(self))
        self.message = message_in(self.board)

    def keep(self, result=None):
        turn = Turn(None, "person", "")
        turn.result = result or failed()
        return answer.keep(self.board, self.message, turn)

    def restarted(self):
        """Return the board after a restart, once the kept message is asked."""
        board = Board(self.board.state)
        run(answer.ask(board))
        return board

    def test_it_is_asked_after_a_restart(self):
        self.assertTrue(self.keep())
        self.assertTrue(self.board.again)
        self.assertEqual(self.board.open, [])
        board = self.restarted()
        message = run(board.inbox.get())
        self.assertEqual(
            (message.chat, message.text, message.sender, message.reply_to, message.by_owner),
            ("1000", "Is the \u00fcber-door open?", "1000", 12, False),
        )
        self.assertTrue(message.again)
        self.assertEqual(board.open, [message])
        self.assertEqual(board.saved, [(7, 1)])
        self.assertFalse(board.again)
        self.assertFalse(files.exists(answer.path(board)))

    def test_a_second_failure_is_the_answer(self):
        self.message.again = True
        self.assertFalse(self.keep())

    def test_other_failures_are_the_answer(self):
        for name, value in (("tool_calls", 1), ("outage", False)):
            result = failed()
            setattr(result, name, value)
            self.assertFalse(self.keep(result), name)
        self.board.semaphore.shortages = 0
        self.assertFalse(self.keep())
        self.board.semaphore.shortages = 1
        self.board.shares_memory = False
        self.assertFalse(self.keep())
        self.board.shares_memory = True
        self.message.channel = "console"
        self.assertFalse(self.keep())
        self.assertFalse(files.exists(answer.path(self.board)))

    def test_one_message_waits_and_further_ones_fail(self):
        self.assertTrue(self.keep())
        self.message = message_in(self.board)
        self.assertFalse(self.keep())

    def test_a_damaged_file_is_dropped(self):
        for text in ("", "[1", "3", "[1, 2]"):
            files.write_atomic(answer.path(self.board), text)
            board = self.restarted()
            self.assertEqual((len(board.inbox), board.open), (0, []))
            self.assertFalse(files.exists(answer.path(board)))


if __name__ == "__main__":
    unittest.main()
