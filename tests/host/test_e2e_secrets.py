"""Secrets stay in config.json: not on the serial line, not with tools, not with the model."""

import pytest

from tenner_sim.services import API_KEY, TOKEN
from tests.host.e2e import PASSWORD, agent_board

SECRETS = (API_KEY, TOKEN, PASSWORD)

_SCHEMA = (
    '{"name": "%s", "description": "Leak.", "parameters": {"type": "object", "properties": {}}}'
)

# Tools an owner might drop in that are careless with the settings.
_TOOLS = {
    "raises": "async def run(args, ctx):\n    raise ValueError(open('/config.json').read())\n",
    "returns": "async def run(args, ctx):\n    return open('/config.json').read()\n",
    "prints": (
        "from tenner.log import log\n"
        "async def run(args, ctx):\n"
        "    log('tool', open('/config.json').read())\n"
        "    return 'logged'\n"
    ),
    "task": (
        "import asyncio\n"
        "async def boom():\n"
        "    raise ValueError(open('/config.json').read())\n"
        "async def run(args, ctx):\n"
        "    asyncio.create_task(boom())\n"
        "    return 'started'\n"
    ),
    "service": (
        "async def run(args, ctx):\n"
        "    def broken(name):\n"
        "        raise RuntimeError(open('/config.json').read())\n"
        "    ctx.agent.get = broken\n"
        "    return 'broken'\n"
    ),
}


def _files():
    made = {}
    for name, code in _TOOLS.items():
        made[f"/workspace/tools/{name}.py"] = code
        made[f"/workspace/tools/{name}.json"] = _SCHEMA % name
    return made


@pytest.fixture(scope="module")
def bench():
    with agent_board(files=_files()) as made:
        yield made.ready()


def _no_secret(bench):
    for secret in SECRETS:
        assert secret not in bench.log
        assert not [text for text in bench.told() if secret in text]
        assert not [one for one in bench.model.requests if secret in one.body.decode()]


@pytest.mark.parametrize("tool", ["raises", "returns", "prints", "task"])
def test_a_careless_tool_gives_no_secret_away(bench, tool):
    answer = bench.ask(f"call {tool} {{}}")
    assert answer.startswith(f"{tool}: "), answer
    if tool == "task":
        bench.wait_for("ValueError")
    _no_secret(bench)


_OTHER_WAYS = [
    "/config.json",
    "../config.json",
    "/workspace/../config.json",
    "notes/../../config.json",
]


@pytest.mark.parametrize("path", _OTHER_WAYS)
def test_read_file_does_not_reach_the_settings(bench, path):
    answer = bench.ask(f'call read_file {{"path": "{path}"}}')
    assert "private" in answer or "outside" in answer, answer
    _no_secret(bench)


@pytest.mark.parametrize(
    "call",
    [
        'write_file {"path": "/config.json", "content": "{}"}',
        'append_file {"path": "/config.json", "content": "x"}',
        'edit_file {"path": "/config.json", "old": "offline", "new": "online"}',
        'write_file {"path": "/lib/tenner/app.py", "content": "x"}',
        'write_file {"path": "/main.py", "content": "x"}',
        'read_file {"path": "/certs/stand-in.der"}',
        'list_dir {"path": "/state"}',
    ],
    ids=lambda call: call.replace('"', "")[:28],
)
def test_no_file_tool_reaches_settings_code_or_state(bench, call):
    before = bench.board.read_tree()
    answer = bench.ask(f"call {call}")
    assert "error" in answer, answer
    after = bench.board.read_tree()
    for name in ("/config.json", "/main.py", "/certs/stand-in.der"):
        assert after[name] == before[name]
    assert "/lib/tenner/app.py" not in after


def test_a_failure_of_the_agent_itself_is_a_redacted_traceback():
    with agent_board(files=_files()) as bench:
        bench.ready()
        bench.ask("call service {}")
        bench.ask("say: something")
        bench.wait_for("Traceback")
        bench.wait_for("RuntimeError")
        _no_secret(bench)
