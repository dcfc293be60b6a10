"""Photos and voice notes that reach services which nobody here wrote: ant2oai and
faster-whisper-server (PyPI), and aimock (npm).

ant2oai translates a request of Anthropic's form into one of OpenAI's. faster-whisper-server reads
the form with FastAPI's parser; FFmpeg decodes the sound in place of its model.
"""

import base64
import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tenner_sim.services import API_KEY, MODEL, OWNER, TOKEN, Services
from tests import photos
from tests.ports import free_port
from tests.services.agent import INTERPRETERS, Agent, find
from tests.services.kit import call, media, need, node, npm, running

PHOTO = photos.sizes()[(800, 600)]
PNG = photos.photo(400, 300, "PNG")
SEEN = f"I see image/jpeg, {len(PHOTO)} bytes."
HERE = Path(__file__).parent


@pytest.fixture(params=INTERPRETERS)
def agent(request, tmp_path):
    """The agent, with Telegram's stand-in for its files."""
    root = tmp_path / "agent"
    root.mkdir()
    with Services(tls=False) as services:
        made = Agent(root, find(request.param))
        made.services = services
        made.set(
            telegram={
                "token": TOKEN,
                "base_url": services.telegram.url,
                "owner": OWNER,
                "poll_s": 1,
            },
            console={"enabled": False},
            llm={"base_url": services.model.base_url, "api_key": API_KEY, "model": MODEL},
        )
        yield made


def send(agent, *args, **options):
    """Send a file, and return the answers up to the first that is no quote of it."""
    telegram = agent.services.telegram
    before = len(telegram.sent)
    telegram.attach(OWNER, *args, **options)

    def answers(_=None):
        return [one.text for one in list(telegram.sent)[before:]]

    telegram.wait_for(lambda _: any(not text.startswith("\u201c") for text in answers()))
    return answers()


def speak(agent, data, **options):
    """Send a voice note; return the quote of its words, and the answer."""
    found = send(agent, "voice", data=data, **options)
    assert len(found) == 2, found
    return found


def python(*words, stub=False):
    """The command and the environment of a service of PyPI."""
    folders = [str(HERE / "whisper")] * stub + need(media)
    environment = {
        "PYTHONPATH": ":".join(folders),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONSAFEPATH": "1",
    }
    return [sys.executable, *words], environment


# --- ant2oai


@pytest.fixture
def translated(agent, tmp_path):
    """The agent with Anthropic's form, and a proxy to a model with OpenAI's."""
    port = free_port()
    upstream = f"{agent.services.model.base_url}/chat/completions"
    words = ["-c", "from a2o.cli import main; main()", "--port", str(port), "--model", MODEL]
    command, environment = python(*words, "--upstream", upstream)
    agent.set(llm={"api": "messages", "base_url": f"http://127.0.0.1:{port}"})
    # The proxy passes no x-api-key on.
    agent.services.model.api_key = ""
    with running(command, port, tmp_path, environment), agent.serving():
        yield agent


def test_ant2oai_a_photo(translated):
    assert send(translated, "photo", "what is it?", sizes=photos.sizes()) == [SEEN]
    paths = [one.path for one in translated.services.model.requests if one.method == "POST"]
    assert paths == ["/v1/chat/completions"]


def test_ant2oai_a_photo_and_a_tool(translated):
    translated.write("note.md", "12.5 degrees")
    caption = 'call read_file {"path":"note.md"}'
    (answer,) = send(translated, "photo", caption, sizes=photos.sizes())
    assert "12.5 degrees" in answer
    (after,) = send(translated, "document", "and this?", data=PNG, mime_type="image/png")
    assert after == f"I see image/png, {len(PNG)} bytes."


# --- aimock


FIXTURES = [
    ({"userMessage": "what is it"}, {"content": "A leaf."}),
    ({"userMessage": "Switch the pump on"}, {"content": "The pump is on."}),
    ({"endpoint": "transcription"}, {"transcription": {"text": "Switch the pump on."}}),
]


class Aimock:
    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"

    def journal(self):
        return call(self.url + "/__aimock/journal")


@pytest.fixture(scope="module")
def aimock_server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aimock")
    rows = [{"match": match, "response": response} for match, response in FIXTURES]
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": rows}), encoding="utf-8")
    port = free_port()
    need(npm, "@copilotkit/aimock")
    words = ["-p", str(port), "-f", str(folder / "fixtures.json")]
    with running(need(node, "@copilotkit/aimock", "dist/cli.js", *words), port, folder):
        yield Aimock(port)


@contextlib.contextmanager
def with_aimock(agent, server, api):
    base = server.url + ("/v1" if api == "chat" else "")
    agent.set(
        llm={"api": api, "base_url": base, "model": "gpt-4o"},
        voice={"url": server.url + "/v1", "key": API_KEY},
    )
    with agent.serving():
        yield agent


def pictures(value):
    """The data of every picture in a request of OpenAI's form."""
    if isinstance(value, list):
        return [one for part in value for one in pictures(part)]
    if not isinstance(value, dict):
        return []
    if value.get("type") == "image_url":
        return [base64.b64decode(value["image_url"]["url"].partition(",")[2], validate=True)]
    return pictures(list(value.values()))


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_aimock_a_photo_with_its_caption(agent, aimock_server, api):
    before = len(aimock_server.journal())
    # The journal cuts a request of over 64 KB.
    sizes = {size: data for size, data in photos.sizes().items() if size[0] <= 320}
    with with_aimock(agent, aimock_server, api):
        assert send(agent, "photo", "what is it?", sizes=sizes) == ["A leaf."]
    (entry,) = aimock_server.journal()[before:]
    assert entry["response"]["status"] == 200
    # Of Anthropic's form it keeps the text alone.
    assert pictures(entry["body"]) == ([sizes[320, 240]] if api == "chat" else [])


def test_aimock_a_voice_note(agent, aimock_server):
    with with_aimock(agent, aimock_server, "chat"):
        quote, answer = speak(agent, photos.voice_note())
    assert (quote, answer) == ("\u201cSwitch the pump on.\u201d", "The pump is on.")


# --- faster-whisper-server


@pytest.fixture(scope="module")
def whisper(tmp_path_factory):
    """The address of a running server."""
    port = free_port()
    words = ["-m", "faster_whisper_server", "stub", "--port", str(port), "--host", "127.0.0.1"]
    command, environment = python(*words, stub=True)
    with running(command, port, tmp_path_factory.mktemp("whisper"), environment):
        yield f"http://127.0.0.1:{port}/v1"


@pytest.fixture
def hearing(agent, whisper):
    agent.set(voice={"url": whisper, "max_kb": 512})
    return agent


@pytest.fixture(scope="module")
def note(tmp_path_factory):
    """Makes a voice note: a tone of so many seconds and hertz."""
    folder = tmp_path_factory.mktemp("sound")

    def make(seconds, hertz):
        path = folder / f"{seconds}-{hertz}.ogg"
        if not path.exists():
            words = [str(HERE / "sound.py"), str(path), str(seconds), str(hertz)]
            command, environment = python(*words)
            subprocess.run(command, env=environment, check=True)
        return path.read_bytes()

    return make


@pytest.mark.parametrize(("seconds", "hertz"), [(1, 880), (8, 440), (90, 220)])
def test_whisper_a_note_comes_whole(hearing, note, seconds, hertz):
    with hearing.serving():
        quote, answer = speak(hearing, note(seconds, hertz), duration=seconds)
    assert quote == f"\u201c{seconds} seconds of {hertz} hertz\u201d"
    assert f"{hertz} hertz" in answer


def test_whisper_the_language_is_a_field_of_the_form(hearing, note):
    hearing.set(voice={"language": "de"})
    with hearing.serving():
        quote, _ = speak(hearing, note(1, 880))
    assert quote == "\u201c1 seconds of 880 hertz in de\u201d"


def test_whisper_each_failure_is_a_sentence(hearing, note, whisper):
    with hearing.serving():
        # The mark of Ogg, and then no sound.
        (said,) = send(hearing, "voice", data=photos.voice_note())
        assert said.startswith("I could not transcribe this voice note: "), said
        assert "answered 500" in said
        (said,) = send(hearing, "voice", data=note(1200, 220), duration=1200)
        assert said.startswith("This voice note has ") and "512 KB at most" in said
        quote, _ = speak(hearing, note(1, 880))
        assert "880 hertz" in quote
    hearing.set(voice={"url": whisper + "/elsewhere"})
    with hearing.serving():
        (said,) = send(hearing, "voice", data=note(1, 880))
    assert "answered 404" in said and "check voice.url" in said
    assert "Traceback" not in hearing.log
