"""The Telegram stand-in: the semantics and the error texts that a bot has to live with."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from tenner_sim.services import OWNER, TOKEN, Step, Telegram
from tenner_sim.services.telegram_entities import ParseError, parse
from tests.host.services_client import Http, Reply

Answer = dict[str, Any]


@pytest.fixture
def tg() -> Iterator[Telegram]:
    with Telegram() as running:
        yield running


def call(tg: Telegram, method: str, **arguments: Any) -> Answer:
    answer: Answer = Http(tg.url).post(f"/bot{TOKEN}/{method}", arguments).json
    return answer


def send(tg: Telegram, text: str, **arguments: Any) -> Answer:
    return call(tg, "sendMessage", **{"chat_id": OWNER, "text": text, **arguments})


def updates(tg: Telegram, **arguments: Any) -> list[Answer]:
    answer = call(tg, "getUpdates", **arguments)
    assert answer["ok"], answer
    found: list[Answer] = answer["result"]
    return found


def refusal(answer: Answer) -> tuple[int, str]:
    assert answer["ok"] is False
    return answer["error_code"], answer["description"]


class Background:
    """One request in a thread of its own."""

    def __init__(self, tg: Telegram, method: str, **arguments: Any) -> None:
        self._answer: Answer = {}
        self._thread = threading.Thread(target=self._run, args=(tg, method, arguments))
        seen = len(tg.requests)
        self._thread.start()
        tg.wait_requests(seen + 1)

    def _run(self, tg: Telegram, method: str, arguments: Answer) -> None:
        self._answer = call(tg, method, **arguments)

    def answer(self) -> Answer:
        self._thread.join()
        return self._answer


# --- the questions of people
# -------------------------------------------------------------------------


def test_get_me_in_any_case_and_by_get(tg: Telegram) -> None:
    assert call(tg, "getMe")["result"]["is_bot"] is True
    with Http(tg.url) as http:
        http.send(f"/bot{TOKEN}/GETME", method="GET")
        assert http.receive().json["ok"] is True


def test_wrong_token_and_unknown_method(tg: Telegram) -> None:
    assert Http(tg.url).post("/bot1:wrong/getMe", {}).json == {
        "ok": False,
        "error_code": 401,
        "description": "Unauthorized",
    }
    assert refusal(call(tg, "getEverything")) == (404, "Not Found")
    assert Http(tg.url).post("/", {}).status == 404


def test_form_encoded_body_and_query(tg: Telegram) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    markup = '{"inline_keyboard":[[{"text":"Yes","callback_data":"y"}]]}'
    body = urlencode({"chat_id": OWNER, "text": "a&b ä", "reply_markup": markup}).encode()
    assert Http(tg.url).post(f"/bot{TOKEN}/sendMessage", body, form).json["ok"] is True
    query = urlencode({"chat_id": OWNER, "text": "in the query"})
    with Http(tg.url) as http:
        http.send(f"/bot{TOKEN}/sendMessage?{query}", method="GET")
        assert http.receive().json["ok"] is True
    assert [one.text for one in tg.sent] == ["a&b ä", "in the query"]
    assert tg.sent[0].buttons == [{"text": "Yes", "callback_data": "y"}]


def test_record_has_no_token(tg: Telegram) -> None:
    call(tg, "getMe")
    assert tg.requests[-1].path == "/bot<token>/getMe"
    assert TOKEN not in repr(tg.requests)


# --- getUpdates ---------------------------------------------------------------------------------


def test_updates_stay_until_an_offset_confirms_them(tg: Telegram) -> None:
    for text in ("a", "b", "c"):
        tg.say(OWNER, text)
    first = updates(tg, limit=1)
    assert [one["message"]["text"] for one in first] == ["a"]
    assert updates(tg, limit=1) == first
    number = first[0]["update_id"]
    rest = updates(tg, offset=number + 1)
    assert [one["message"]["text"] for one in rest] == ["b", "c"]
    assert [one["update_id"] for one in rest] == [number + 1, number + 2]
    assert updates(tg, offset=number + 3) == []
    assert tg.unconfirmed == []


def test_negative_offset_keeps_the_newest(tg: Telegram) -> None:
    for text in ("a", "b", "c"):
        tg.say(OWNER, text)
    assert [one["message"]["text"] for one in updates(tg, offset=-1)] == ["c"]
    assert len(tg.unconfirmed) == 1


def test_long_poll_is_answered_by_the_next_message(tg: Telegram) -> None:
    poll = Background(tg, "getUpdates", timeout=50)
    tg.say(OWNER, "hello")
    assert poll.answer()["result"][0]["message"]["text"] == "hello"


def test_second_poller_ends_the_first(tg: Telegram) -> None:
    first = Background(tg, "getUpdates", timeout=50)
    second = Background(tg, "getUpdates", timeout=50)
    code, text = refusal(first.answer())
    assert code == 409
    assert text.startswith("Conflict: terminated by other getUpdates request")
    tg.say(OWNER, "hello")
    assert len(second.answer()["result"]) == 1


def test_a_poller_that_left_is_no_conflict(tg: Telegram) -> None:
    with Http(tg.url) as http:
        http.send(f"/bot{TOKEN}/getUpdates", {"timeout": 50})
        tg.wait_requests(1)
    with tg.changed:
        assert tg.changed.wait_for(lambda: tg.open_connections == 0)
    tg.say(OWNER, "kept")
    assert len(updates(tg)) == 1


def test_allowed_updates(tg: Telegram) -> None:
    updates(tg, allowed_updates=["callback_query"])
    tg.say(OWNER, "not wanted")
    assert updates(tg) == []
    updates(tg, allowed_updates='["message"]')
    tg.say(OWNER, "wanted")
    assert len(updates(tg)) == 1


def test_topics(tg: Telegram) -> None:
    forum = -100_777
    tg.add_chat(forum, "supergroup")
    assert call(tg, "sendMessage", chat_id=forum, text="x", message_thread_id=5)["ok"]
    assert tg.sent[-1].topic == 0
    tg.add_topic(forum, 12)
    answer = call(tg, "sendMessage", chat_id=forum, text="x", message_thread_id=12)["result"]
    assert (answer["message_thread_id"], answer["chat"]["is_forum"]) == (12, True)
    for number in (1, 13):
        answer = call(tg, "sendMessage", chat_id=forum, text="x", message_thread_id=number)
        assert refusal(answer) == (400, "Bad Request: message thread not found")
    asked = tg.say(forum, "hi", from_id=OWNER, chat_type="supergroup", message_thread_id=12)
    reply = {"message_id": asked["message_id"]}
    assert call(tg, "sendMessage", chat_id=forum, text="x", reply_parameters=reply)["ok"]
    assert tg.sent[-1].topic == 12
    tg.add_topic(forum, 12, closed=True)
    for more in ({"message_thread_id": 12}, {"reply_parameters": reply}):
        answer = call(tg, "sendMessage", chat_id=forum, text="x", **more)
        assert refusal(answer) == (400, "Bad Request: TOPIC_CLOSED")
    tg.remove_topic(forum, 12)
    assert refusal(send(tg, "x", message_thread_id=12))[1].endswith("message thread not found")
    tg.say(OWNER, "hi", message_thread_id=12)
    assert send(tg, "x", message_thread_id=12)["result"]["message_thread_id"] == 12


def test_an_offset_far_ahead_is_none(tg: Telegram) -> None:
    tg.renumber(20)
    tg.say(OWNER, "a")
    assert [one["update_id"] for one in updates(tg, offset=700_000_502)] == [20]
    assert len(tg.unconfirmed) == 1
    assert updates(tg, offset=31) == []
    assert tg.unconfirmed == []


def test_webhook_excludes_polling(tg: Telegram) -> None:
    call(tg, "setWebhook", url="https://example.invalid/hook")
    assert refusal(call(tg, "getUpdates"))[0] == 409
    tg.say(OWNER, "old")
    assert call(tg, "deleteWebhook", drop_pending_updates=True)["result"] is True
    assert updates(tg) == []


def test_kinds_of_updates(tg: Telegram) -> None:
    message = tg.say(-500, "/start now", from_id=7, username="ann", chat_type="group")
    tg.edit(message, "changed")
    tg.attach(OWNER, "photo", "a caption")
    tg.attach(OWNER, "voice")
    tg.attach(OWNER, "document")
    tg.inject({"my_chat_member": {"odd": True}})
    found = updates(tg)
    group = found[0]["message"]
    assert group["chat"] == {"id": -500, "type": "group", "title": "Group -500"}
    assert (group["from"]["id"], group["from"]["username"]) == (7, "ann")
    assert group["entities"] == [{"type": "bot_command", "offset": 0, "length": 6}]
    assert found[1]["edited_message"]["text"] == "changed"
    assert found[2]["message"]["caption"] == "a caption"
    assert "text" not in found[2]["message"]
    assert found[3]["message"]["voice"]["duration"] == 3
    assert found[4]["message"]["document"]["file_name"] == "notes.txt"
    assert found[5]["my_chat_member"] == {"odd": True}


# --- sendMessage --------------------------------------------------------------------------------

REFUSED: list[tuple[Answer, int, str]] = [
    ({"text": ""}, 400, "Bad Request: message text is empty"),
    ({"text": "  \n"}, 400, "Bad Request: text must be non-empty"),
    ({"text": "\u200b\u2800\ufeff"}, 400, "Bad Request: text must be non-empty"),
    ({"text": "<b></b>", "parse_mode": "HTML"}, 400, "Bad Request: text must be non-empty"),
    ({"text": "x" * 4097}, 400, "Bad Request: message is too long"),
    ({"text": "😀" * 2049}, 400, "Bad Request: message is too long"),
    ({"chat_id": 77}, 400, "Bad Request: chat not found"),
    ({"chat_id": "@nobody"}, 400, "Bad Request: chat not found"),
    ({"chat_id": None}, 400, "Bad Request: chat_id is empty"),
    ({"chat_id": 13}, 403, "Forbidden: bot was blocked by the user"),
    (
        {"text": "<x>", "parse_mode": "HTML"},
        400,
        'Bad Request: can\'t parse entities: Unsupported start tag "x" at byte offset 0',
    ),
    ({"parse_mode": "BBCode"}, 400, "Bad Request: unsupported parse_mode"),
    (
        {"reply_parameters": {"message_id": 99}},
        400,
        "Bad Request: message to be replied not found",
    ),
    ({"reply_markup": "{"}, 400, "Bad Request: can't parse reply keyboard markup JSON object"),
    ({"reply_markup": 5}, 400, "Bad Request: object expected as reply markup"),
    (
        {"reply_markup": {"inline_keyboard": [[{"text": "x", "callback_data": "d" * 65}]]}},
        400,
        "Bad Request: BUTTON_DATA_INVALID",
    ),
    (
        {"reply_markup": {"inline_keyboard": [[{"text": "x"}]]}},
        400,
        "Bad Request: can't parse inline keyboard button: "
        "Text buttons are unallowed in the inline keyboard",
    ),
]


@pytest.mark.parametrize(("changes", "code", "says"), REFUSED)
def test_send_refused(tg: Telegram, changes: Answer, code: int, says: str) -> None:
    tg.block(13)
    arguments = {"chat_id": OWNER, "text": "hello", **changes}
    assert refusal(call(tg, "sendMessage", **arguments)) == (code, says)
    assert tg.sent == []


def test_length_counts_after_parsing_in_utf16_units(tg: Telegram) -> None:
    assert send(tg, "😀" * 2048)["ok"] is True
    assert send(tg, "<b>" + "&lt;" * 4096 + "</b>", parse_mode="HTML")["ok"] is True


def test_send_with_format_and_reply(tg: Telegram) -> None:
    said = tg.say(OWNER, "question")
    answer = send(
        tg,
        "<b>Hi</b> &amp; <a href='https://a.b'>there</a>",
        parse_mode="HTML",
        reply_parameters={"message_id": said["message_id"]},
    )["result"]
    assert answer["text"] == "Hi & there"
    assert answer["entities"] == [
        {"type": "bold", "offset": 0, "length": 2},
        {"type": "text_link", "offset": 5, "length": 5, "url": "https://a.b"},
    ]
    assert answer["reply_to_message"]["text"] == "question"
    assert tg.wait_sent(1)[0].reply_to == said["message_id"]


def test_reply_to_a_lost_message_may_be_allowed(tg: Telegram) -> None:
    lenient = {"message_id": 99, "allow_sending_without_reply": True}
    assert send(tg, "x", reply_parameters=lenient)["ok"] is True
    assert tg.sent[0].reply_to is None


def test_unblocked_again(tg: Telegram) -> None:
    tg.block(13)
    assert send(tg, "x", chat_id=13)["ok"] is False
    tg.block(13, False)
    assert send(tg, "x", chat_id=13)["ok"] is True


def test_group_that_moved(tg: Telegram) -> None:
    tg.migrate(-5, -1005)
    answer = send(tg, "x", chat_id=-5)
    assert answer["parameters"] == {"migrate_to_chat_id": -1005}
    assert "upgraded to a supergroup" in answer["description"]
    assert send(tg, "x", chat_id=-1005)["ok"] is True


def test_flood_limit_by_plan(tg: Telegram) -> None:
    tg.plan([Step(path="sendMessage", status=429, retry_after_s=5)])
    reply = Http(tg.url).post(f"/bot{TOKEN}/sendMessage", {"chat_id": OWNER, "text": "x"})
    assert reply.status == 429
    assert reply.headers["retry-after"] == "5"
    assert reply.json == {
        "ok": False,
        "error_code": 429,
        "description": "Too Many Requests: retry after 5",
        "parameters": {"retry_after": 5},
    }
    assert tg.sent == []
    assert send(tg, "x")["ok"] is True


def test_other_statuses_by_plan(tg: Telegram) -> None:
    tg.plan([Step(status=409), Step(status=502), Step(status=401)])
    assert [refusal(send(tg, "x"))[0] for _ in range(3)] == [409, 502, 401]


def test_reset_after_the_message_was_taken(tg: Telegram) -> None:
    """The duplicate's cause: the message is out, its confirmation is lost."""
    tg.plan([Step(path="sendMessage", reset=0)])
    reply = Http(tg.url).post(f"/bot{TOKEN}/sendMessage", {"chat_id": OWNER, "text": "x"})
    assert reply.ended == "reset"
    assert [one.text for one in tg.sent] == ["x"]


def test_waiting_for_too_much_says_what_is_missing(tg: Telegram) -> None:
    send(tg, "x")
    with pytest.raises(TimeoutError, match="1 of 2 messages"):
        tg.wait_sent(2, timeout_s=0.01)


# --- editing, buttons, the rest
# -------------------------------------------------------------------


def test_a_message_is_edited_once(tg: Telegram) -> None:
    number = send(tg, "one")["result"]["message_id"]
    here = {"chat_id": OWNER, "message_id": number}
    same = refusal(call(tg, "editMessageText", text="one", **here))
    assert same[1].startswith("Bad Request: message is not modified: specified new message")
    assert call(tg, "editMessageText", text="two", **here)["result"]["text"] == "two"
    assert (tg.sent[0].text, tg.sent[0].history) == ("two", ["one"])
    lost = call(tg, "editMessageText", chat_id=OWNER, message_id=999, text="x")
    assert refusal(lost) == (400, "Bad Request: message to edit not found")
    theirs = tg.say(OWNER, "mine")["message_id"]
    other = call(tg, "editMessageText", chat_id=OWNER, message_id=theirs, text="x")
    assert refusal(other) == (400, "Bad Request: message can't be edited")


def test_a_message_is_deleted_once(tg: Telegram) -> None:
    here = {"chat_id": OWNER, "message_id": send(tg, "one")["result"]["message_id"]}
    assert call(tg, "deleteMessage", **here)["result"] is True
    assert refusal(call(tg, "deleteMessage", **here))[1] == (
        "Bad Request: message to delete not found"
    )


def test_a_button_is_pressed(tg: Telegram) -> None:
    keyboard = {"inline_keyboard": [[{"text": "Yes", "callback_data": "y"}]]}
    send(tg, "Shall I?", reply_markup=keyboard)
    with pytest.raises(ValueError, match="no button 'n'"):
        tg.press(tg.sent[0], "n")
    number = tg.press(tg.sent[0], "y", from_id=8)
    query = updates(tg)[0]["callback_query"]
    assert (query["id"], query["data"], query["from"]["id"]) == (number, "y", 8)
    assert query["message"]["message_id"] == tg.sent[0].message_id
    assert call(tg, "answerCallbackQuery", callback_query_id=number, text="done")["ok"] is True
    assert tg.answers[number]["text"] == "done"
    again = refusal(call(tg, "answerCallbackQuery", callback_query_id=number))
    assert again == (
        400,
        "Bad Request: query is too old and response timeout expired or query ID is invalid",
    )
    here = {"chat_id": OWNER, "message_id": tg.sent[0].message_id}
    assert call(tg, "editMessageReplyMarkup", **here)["ok"] is True
    assert tg.sent[0].buttons == []


def test_chat_action(tg: Telegram) -> None:
    assert call(tg, "sendChatAction", chat_id=OWNER, action="typing")["ok"] is True
    assert tg.actions == [(OWNER, "typing")]
    wrong = refusal(call(tg, "sendChatAction", chat_id=OWNER, action="thinking"))
    assert wrong == (400, "Bad Request: wrong parameter action in request")


def test_commands_are_set_and_read(tg: Telegram) -> None:
    commands = [{"command": "why", "description": "Why not now"}]
    assert call(tg, "setMyCommands", commands=commands)["ok"] is True
    assert call(tg, "getMyCommands")["result"] == commands
    bad = [{"command": "Why?", "description": "x"}]
    assert refusal(call(tg, "setMyCommands", commands=bad))[1] == (
        "Bad Request: BOT_COMMAND_INVALID"
    )


# --- formats ------------------------------------------------------------------------------------

BROKEN = [
    ("HTML", "a<b", "Unclosed start tag at byte offset 1"),
    ("HTML", "ä<div>", 'Unsupported start tag "div" at byte offset 2'),
    ("HTML", "<b>x", 'Can\'t find end tag corresponding to start tag "b"'),
    ("HTML", "x</b>", "Unexpected end tag at byte offset 1"),
    (
        "HTML",
        "<b>x</i>",
        'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"',
    ),
    ("HTML", "<b>x</b", "Unclosed end tag at byte offset 4"),
    ("HTML", "<span>x</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
    ("HTML", '<a href="x', 'Unclosed start tag "a" at byte offset 0'),
    ("HTML", "5 < 6 > 3", 'Unsupported start tag "" at byte offset 2'),
    ("MarkdownV2", "a.b", "Character '.' is reserved and must be escaped with the preceding '\\'"),
    ("MarkdownV2", "a>b", "Character '>' is reserved and must be escaped with the preceding '\\'"),
    ("MarkdownV2", "a|b", "Character '|' is reserved and must be escaped with the preceding '\\'"),
    ("MarkdownV2", "ä *b", "Can't find end of Bold entity at byte offset 3"),
    ("MarkdownV2", "_a", "Can't find end of Italic entity at byte offset 0"),
    ("MarkdownV2", "`a", "Can't find end of Code entity at byte offset 0"),
    ("MarkdownV2", "```\na", "Can't find end of Pre entity at byte offset 0"),
    ("MarkdownV2", "[a](http://b", "Can't find end of a URL at byte offset 4"),
    ("Markdown", "a *b", "Can't find end of the entity starting at byte offset 2"),
]


@pytest.mark.parametrize(("mode", "text", "says"), BROKEN)
def test_broken_formats(mode: str, text: str, says: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text, mode)
    assert str(caught.value) == says


GOOD: list[tuple[str, str, str, list[tuple[str, int, int]]]] = [
    ("HTML", "&lt;&#65;&nbsp;&amp;", "<A&nbsp;&", []),
    ("HTML", "😀<b>x<i>y</i></b>", "😀xy", [("bold", 2, 2), ("italic", 3, 1)]),
    (
        "HTML",
        '<pre><code class="language-c">x</code></pre>',
        "x",
        [("code", 0, 1), ("pre", 0, 1)],
    ),
    ("HTML", "<blockquote expandable>q</blockquote>", "q", [("blockquote", 0, 1)]),
    ("HTML", "<tg-spoiler>s</tg-spoiler>", "s", [("spoiler", 0, 1)]),
    ("MarkdownV2", r"1\.5 *b _i_*", "1.5 b i", [("bold", 4, 3), ("italic", 6, 1)]),
    ("MarkdownV2", "__u__ ~s~ ||p||", "u s p", [("underline", 0, 1), ("strikethrough", 2, 1), ("spoiler", 4, 1)]),  # noqa: E501
    ("MarkdownV2", "`a.b` [x](http://a.b/)", "a.b x", [("code", 0, 3), ("text_link", 4, 1)]),
    ("MarkdownV2", "```py\na.b\n```", "a.b\n", [("pre", 0, 4)]),
    ("MarkdownV2", ">a\n>b\nc", "a\nb\nc", [("blockquote", 0, 3)]),
    ("Markdown", "*b* _i_ `c` [x](http://a.b)", "b i c x", [("bold", 0, 1), ("italic", 2, 1), ("code", 4, 1), ("text_link", 6, 1)]),  # noqa: E501
    ("", "<b>_*", "<b>_*", []),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "text", "plain", "entities"), GOOD)
def test_good_formats(
    mode: str, text: str, plain: str, entities: list[tuple[str, int, int]]
) -> None:
    got, found = parse(text, mode)
    assert got == plain
    assert sorted((e["type"], e["offset"], e["length"]) for e in found) == sorted(entities)


def get(tg: Telegram, path: str) -> Reply:
    with Http(tg.url) as client:
        client.send(path, method="GET")
        return client.receive()


def test_a_file_is_served_by_its_path_and_the_token(tg: Telegram) -> None:
    message = tg.attach(OWNER, "document", data=b"all of it", file_name="a.png")
    file_id = message["document"]["file_id"]
    guess = f"/file/bot{TOKEN}/documents/file_0.png"
    # Nobody has asked for it yet.
    assert get(tg, guess).status == 404
    found = call(tg, "getFile", file_id=file_id)["result"]
    assert (found["file_id"], found["file_size"]) == (file_id, 9)
    path = f"/file/bot{TOKEN}/{found['file_path']}"
    assert get(tg, path).body == b"all of it"
    for wrong in (path + "x", path.replace(TOKEN, "77:x"), path.replace("/bot", "/")):
        reply = get(tg, wrong)
        assert (reply.status, refusal(reply.json)) == (404, (404, "Not Found"))
    assert not [one for one in tg.requests if TOKEN in one.path]


def test_files_that_are_not_served(tg: Telegram) -> None:
    message = tg.attach(OWNER, "document", data=b"x", file_size=20 * 1024 * 1024 + 1)
    answer = call(tg, "getFile", file_id=message["document"]["file_id"])
    assert refusal(answer) == (400, "Bad Request: file is too big")
    assert refusal(call(tg, "getFile", file_id="?")) == (400, "Bad Request: invalid file_id")
    assert refusal(call(tg, "getFile")) == (400, "Bad Request: file_id not specified")
