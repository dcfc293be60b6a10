"""A flash with no block left: people are answered, nothing that was there is lost, and it ends
well."""

import json

import pytest

from tenner_host.littlefs_image import FileSystemError
from tenner_sim.services import OWNER, Answer, Services, ToolCall
from tenner_sim.vboard import VirtualBoard
from tenner_sim.vboard.image import BLOCK_SIZE, VFS_SIZE, build_image
from tests.host import e2e

SESSION = b'["u","the key is under the mat"]\n["a","I will remember."]\n'
FILL = "/workspace/fill.bin"


def fill(tree):
    """Add a file that takes all the room there is."""
    low, high = 0, VFS_SIZE // BLOCK_SIZE
    while high - low > 1:
        middle = (low + high) // 2
        try:
            build_image({**tree, FILL: b"f" * (middle * BLOCK_SIZE)})
            low = middle
        except FileSystemError:
            high = middle
    tree[FILL] = b"f" * (low * BLOCK_SIZE)


@pytest.fixture
def bench(micropython):
    with Services() as services:
        tree = e2e.tree(services, files={f"/state/sessions/telegram_{OWNER}.jsonl": SESSION})
        fill(tree)
        with VirtualBoard(tree, heap=e2e.HEAP) as board:
            yield e2e.Bench(board, services).ready()


def asked(bench):
    return json.dumps(bench.model.requests[-1].json["messages"])


def test_people_are_answered_and_it_ends_well(bench):
    bench.board.set("room.temperature", 21.5)
    bench.telegram.say(OWNER, e2e.ASK)
    bench.wait_told(e2e.READS.format(21.5))
    assert "the key is under the mat" in asked(bench)
    bench.wait_told("I cannot keep our conversation on flash")

    # A tool that writes: an error for the model, and no half of a file.
    call = ToolCall("write_file", {"path": "notes.md", "content": "n" * 5000})
    bench.model.script = [Answer("", [call]), "It did not work."]
    bench.telegram.say(OWNER, "note it")
    bench.wait_told("^It did not work")
    results = [one for one in bench.model.requests[-1].json["messages"] if one["role"] == "tool"]
    assert results[-1]["content"].startswith("error: "), results

    # Once is enough.
    assert len([text for text in bench.told() if "cannot keep" in text]) == 1

    bench.board.power_cycle()
    bench.ready()
    bench.telegram.say(OWNER, "say: again")
    bench.wait_told("^again")
    assert "the key is under the mat" in asked(bench)

    bench.board.mpremote("fs", "rm", ":" + FILL)
    bench.board.soft_reset()
    bench.ready()
    bench.telegram.say(OWNER, "say: there is room")
    bench.wait_told("^there is room")
    bench.telegram.say(OWNER, "say: and on")
    bench.wait_told("^and on")
    assert "the key is under the mat" in asked(bench) and "there is room" in asked(bench)
    assert "Traceback" not in bench.log
    files = bench.board.read_tree()
    assert "/workspace/notes.md" not in files
    assert not [name for name in files if name.endswith((".tmp", ".bad"))]
