"""Photos and voice notes of people, on the whole agent: in both wire formats, and each fault in a
sentence."""

import re

import pytest

from tenner_sim.services import API_KEY, OWNER, Step
from tests import photos, provider_requests
from tests.host.e2e import agent_board

PHOTO = photos.sizes()[(800, 600)]
SEEN = f"I see image/jpeg, {len(PHOTO)} bytes."
FILE = "/state/incoming.tmp"


def show(bench, caption="what is it?", count=1, **options):
    """Send a photo, and return the next answer."""
    before = len(bench.told())
    bench.telegram.attach(OWNER, "photo", caption, sizes=photos.sizes(), **options)
    bench.telegram.wait_for(lambda _: len(bench.told()) > before)
    return bench.told()[before]


def downloads(bench):
    return [one.path for one in list(bench.telegram.requests) if one.path.startswith("/file/")]


def check_gone(bench):
    """The file is gone when the next turn begins."""
    bench.echo("next")
    assert FILE not in bench.board.read_tree()


@pytest.mark.parametrize("runtime", ["micropython", "cpython"])
@pytest.mark.parametrize("api", ["chat", "messages"])
def test_a_photo_reaches_the_model(runtime, api):
    provider_requests.load(api)
    with agent_board(runtime=runtime, changes={"llm.api": api}) as bench:
        bench.ready()
        assert show(bench) == SEEN
        assert len(downloads(bench)) == 1
        # A tool round has it, too; the next turn has only its mark.
        assert "list_dir: " in show(bench, 'call list_dir {"path":"/"}')
        assert len(downloads(bench)) == 2
        bodies = [one.body for one in bench.model.requests if one.method == "POST"]
        assert [b"base64" in body for body in bodies] == [True] * 3
        bench.echo("after")
        last = bench.model.requests[-1].body
        assert b"base64" not in last and b"[a photo]" in last
        check_gone(bench)
        assert "Traceback" not in bench.log


def test_pictures_that_are_not_taken():
    provider_requests.load("chat")
    with agent_board() as bench:
        bench.ready()
        attach = bench.telegram.attach

        def sent(name, kind, data, **more):
            attach(OWNER, "document", data=data, file_name=name, mime_type=kind, **more)

        sent("big.jpg", "image/jpeg", b"x", file_size=10 * 1024 * 1024)
        bench.wait_told(r"^This picture has 10240 KB, and I take 512 KB at most")
        sent("live.heic", "image/heic", b"x")
        sent("fake.jpg", "image/jpeg", b"<html>" * 100)
        bench.wait_told("^I look at pictures in JPEG, PNG, WebP and GIF only", count=2)
        # Telegram names too small a size: the limit holds for the bytes that arrive.
        sent("wrong.jpg", "image/jpeg", b"\xff\xd8\xff" + bytes(600 * 1024), file_size=1000)
        bench.wait_told("^This photo has over 512 KB")
        sent("a.png", "image/png", photos.photo(400, 300, "PNG"))
        bench.wait_told(r"^I see image/png, \d+ bytes\.$")
        assert len(downloads(bench)) == 3
        check_gone(bench)


def test_a_download_that_fails():
    with agent_board() as bench:
        bench.ready()
        for step in (
            Step(path="/file/", cut=5000, where="body"),
            Step(path="/file/", reset=5000, where="body"),
            Step(path="/file/", status=404),
            Step(path="/getFile", status=500),
        ):
            bench.telegram.plan([step])
            answer = show(bench)
            assert answer.startswith("I could not fetch this photo ("), answer
            assert answer.endswith("): please send it again.") and "offline-telegram" not in answer
        assert show(bench) == SEEN
        assert len(bench.model.requests) == 1
        check_gone(bench)


def test_a_power_cut_in_the_middle_of_a_download():
    with agent_board() as bench:
        bench.ready()
        bench.telegram.plan([Step(path="/file/", stall=9000, where="body")])
        bench.telegram.attach(OWNER, "photo", "what is it?", sizes=photos.sizes())
        bench.telegram.wait_for(lambda _: downloads(bench))
        bench.board.power_cycle()
        bench.ready()
        bench.wait_told("^I was restarted while working on this. Please send it again.")
        check_gone(bench)
        assert show(bench) == SEEN
        assert len(bench.told()) == 3


def test_a_model_without_vision_is_named():
    with agent_board() as bench:
        bench.ready()
        bench.model.sees = False
        answer = show(bench)
        assert "the model offline-rules at " in answer and "does not support image input" in answer
        assert "choose a model that sees pictures, or set telegram.photo_kb to 0" in answer
        bench.echo("still here")


def test_a_stranger_makes_it_fetch_nothing():
    with agent_board() as bench:
        bench.ready()
        bench.telegram.attach(4000, "photo", "look", sizes=photos.sizes())
        bench.wait_told("^A stranger wrote")
        bench.echo("after")
        assert not [one for one in bench.telegram.requests if "getFile" in one.path]
        assert downloads(bench) == []


NOTE = photos.voice_note()


def voice(services):
    return {"voice.url": services.model.base_url, "voice.key": API_KEY, "voice.max_kb": 64}


def speak(bench, data=NOTE, **options):
    bench.telegram.attach(OWNER, "voice", data=data, **options)


@pytest.mark.parametrize("runtime", ["micropython", "cpython"])
def test_a_voice_note_is_answered_as_if_typed(runtime):
    with agent_board(runtime=runtime, changes=voice) as bench:
        bench.ready()
        speak(bench)
        bench.wait_told(r"^hello from a voice note\n\n\(now: ")
        quote, answer = bench.telegram.sent
        assert quote.text == "\u201csay: hello from a voice note\u201d"
        assert quote.reply_to == answer.reply_to == 1
        assert bench.model.sounds == [NOTE]
        check_gone(bench)
        assert "Traceback" not in bench.log


def test_voice_notes_that_are_not_heard():
    with agent_board(changes=voice) as bench:
        bench.ready()
        speak(bench, duration=1200, file_size=3_000_000)
        bench.wait_told("^This voice note has 2930 KB, and I take 64 KB at most")
        bench.telegram.plan([Step(path="/file/", cut=5000, where="body")])
        speak(bench)
        bench.wait_told(r"^I could not fetch this voice note \(.*\): please send it again")
        for step, says in (
            (Step(path="/audio/", status=401), r"answered 401 \(.*\): check voice.key"),
            (Step(path="/audio/", status=413), r"answered 413 \(.*\): send a shorter one"),
            (Step(path="/audio/", reset=0), "voice.url: "),
            (Step(path="/audio/", cut=10, where="body"), "voice.url: "),
            (Step(path="/audio/", body=b"<html>"), "sent no transcription"),
        ):
            bench.model.plan([step])
            before = len(bench.told())
            speak(bench)
            bench.telegram.wait_for(lambda _, before=before: len(bench.told()) > before)
            text = bench.told()[before]
            assert re.match("I could not transcribe this voice note: .*" + says, text), text
        bench.model.words = ""
        speak(bench)
        bench.wait_told("^I heard no words in this voice note")
        check_gone(bench)
        assert [one.path for one in bench.model.requests].count("/v1/chat/completions") == 1


def test_without_a_service_voice_notes_are_off():
    with agent_board() as bench:
        bench.ready()
        speak(bench)
        bench.wait_told("^I listen to no voice notes: set voice.url to a transcription service")
        assert downloads(bench) == []


def test_a_power_cut_while_a_voice_note_is_transcribed():
    with agent_board(changes=voice) as bench:
        bench.ready()
        bench.model.plan([Step(path="/audio/", stall=0)])
        speak(bench)
        bench.model.wait_requests(1, path="/audio/")
        bench.board.power_cycle()
        bench.ready()
        bench.wait_told("^I was restarted while working on this. Please send it again.")
        check_gone(bench)
        speak(bench)
        bench.wait_told("^hello from a voice note")
