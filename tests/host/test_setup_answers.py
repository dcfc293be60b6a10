"""Wrong answers to each question of `tenner setup`: one clear sentence, the question again, and
no earlier answer lost."""

import functools
import json

import pytest
import rich_click as click

from tenner_host import prompts
from tenner_host.board.probe import Network
from tenner_host.errors import CommandError
from tenner_host.setup import questions
from tenner_host.setup.settings import check, get
from tenner_host.setup.zones import posix_zone

KEY = "sk-0123456789"
TOKEN = "123456789:AAEabcdefghijklmnopqrstuvwxyz012345"
BERLIN = posix_zone("Europe/Berlin")


class Board:
    joins_wifi = True
    port_module = None


class Trial:
    """A board with three networks in reach; one password, key, model and token are right."""

    board = Board()

    def networks(self):
        names = (("HomeNet", False), ("M\u00fcllers", True), ("\u30db\u30fc\u30e0", False))
        return [Network(name, -40 - at, is_open) for at, (name, is_open) in enumerate(names)]

    def wifi(self, settings):
        name = get(settings, "wifi.ssid")
        if name not in [one.ssid for one in self.networks()]:
            raise CommandError(f"the board cannot join {name!r}: no network of that name")
        if name != "M\u00fcllers" and get(settings, "wifi.password") != "correct horse":
            raise CommandError(f"the board cannot join {name!r}: the password is wrong")
        return "joined"

    def model(self, settings):
        if get(settings, "llm.api_key") not in (KEY, None, ""):
            raise CommandError("the server does not take the key (HTTP 401)")
        return "answers"

    def telegram(self, settings):
        if get(settings, "telegram.token") != TOKEN:
            raise CommandError("Telegram does not know this token")
        return "the bot is @b"


#: The questions in their order: name, the beginning of its prompt, a right answer.
QUESTIONS = [
    ("network", "Number or name of the network", "1"),
    ("password", "Password", "correct horse"),
    ("provider", "Provider", "other"),
    ("address", "Address of its API", "http://192.168.1.2:8080/v1"),
    ("api", "Does it speak", "chat"),
    ("key", "Its key", KEY),
    ("model", "Model", "qwen3:8b"),
    ("token", "Token of the bot", TOKEN),
    ("zone", "Your time zone", "Europe/Berlin"),
    ("hours", "Active hours", "08:00-22:00"),
]
WANTED = {
    "wifi": {"ssid": "HomeNet", "password": "correct horse"},
    "llm": {
        "base_url": "http://192.168.1.2:8080/v1",
        "api": "chat",
        "api_key": KEY,
        "model": "qwen3:8b",
    },
    "telegram": {"token": TOKEN},
    "time": {"zone": BERLIN},
    "heartbeat": {"active_hours": "08:00-22:00"},
}
PLAIN = "That must be text without control characters."
NO_KEY = "That must be one word of plain letters, digits and signs: copy the whole key again."
NO_TOKEN = "That must be a number, a colon and about 35 letters, such as 123456789:AAE...:"
NO_ZONE = "There's no time zone of that name."
NO_HOURS = 'That must be a window "HH:MM-HH:MM" with two different ends'
NO_ADDRESS = 'That must be an address such as "https://nas.local:8080/v1".'
LONG = "x" * 9000

# (question, wrong answer, words of the sentence): the same question comes again.
WRONG = [
    ("network", "99", "There's no network number 99: give a number from 1 to 3, or a name"),
    ("network", "0", "There's no network number 0"),
    ("network", "-1", "There's no network number -1"),
    ("network", "4.", "There's no network number 4."),
    ("network", "9" * 5000, "That must be text of at most 4096 bytes."),
    ("network", '""', "A network is needed: give its number or its name."),
    ("network", "a\x1b[31mb", PLAIN),
    ("network", "a\x00b", PLAIN),
    ("network", "\u30db" * 11, "That must be text of at most 32 bytes."),
    ("password", "short", "A Wi-Fi password has at least 8 characters."),
    ("password", "tab\tand more", PLAIN),
    ("password", "x" * 65, "That must be text of at most 64 bytes."),
    ("provider", "opnai", "There's no such provider: give one of openai, anthropic,"),
    ("provider", "opnai", "Did you mean openai?"),
    ("provider", "12", "There's no such provider"),
    ("provider", KEY, "There's no such provider"),
    ("provider", LONG, "There's no such provider"),
    ("provider", "\u4eba\u5de5", "There's no such provider"),
    ("address", "", "An address is needed, such as http://192.168.1.2:8080/v1."),
    ("address", "-", "An address is needed"),
    ("address", "nas", NO_ADDRESS),
    ("address", "http:/nas/v1", NO_ADDRESS),
    ("address", "http//nas/v1", NO_ADDRESS),
    ("address", "ftp://nas/v1", NO_ADDRESS),
    ("address", "http://my nas:8080/v1", NO_ADDRESS),
    ("address", "http://nas:99999/v1", NO_ADDRESS),
    ("address", "http://", NO_ADDRESS),
    ("address", f"http://{LONG}/v1", "That must be text of at most"),
    ("api", "completions", 'That must be one of "chat", "messages".'),
    ("api", "yes", 'That must be one of "chat", "messages".'),
    ("key", "sk-012 345", NO_KEY),
    ("key", "sk-012\u2026", NO_KEY),
    ("key", "sk-\x1b[200~012", NO_KEY),
    ("key", "Bearer sk-012 345", NO_KEY),
    ("model", "", "A model's name is needed, as the server calls it, such as gpt-4o-mini."),
    ("model", "a\x07b", PLAIN),
    ("token", "123456789", NO_TOKEN),
    ("token", "123456789:", NO_TOKEN),
    ("token", ":AAEabc", NO_TOKEN),
    ("token", "123456789: AAEabc", NO_TOKEN),
    ("token", "bot", NO_TOKEN),
    ("token", "@my_bot", "That must be the bot's token, not its name"),
    ("token", "t.me/my_bot", "That must be the bot's token, not its name"),
    ("zone", "Europe/Berln", f"{NO_ZONE} Did you mean Europe/Berlin?"),
    ("zone", "Brelin", f"{NO_ZONE} Did you mean Europe/Berlin?"),
    ("zone", "Mars/Olympus", f"{NO_ZONE} Write it like Europe/Berlin or America/New_York"),
    ("zone", "../../etc/passwd", NO_ZONE),
    ("zone", "\u6771\u4eac", NO_ZONE),
    ("zone", LONG, NO_ZONE),
    ("zone", "UTC+99", "That must be a time zone such as"),
    ("zone", "CET-1CEST,...", "That must be a time zone such as"),
    ("hours", "25-99", NO_HOURS),
    ("hours", "8-8", NO_HOURS),
    ("hours", "8", NO_HOURS),
    ("hours", "never", NO_HOURS),
    ("hours", "8-10pm", NO_HOURS),
    ("hours", "13pm-2pm", NO_HOURS),
    ("hours", "8-22-23", NO_HOURS),
    ("hours", "\u0668-\u0662\u0662", NO_HOURS),
    ("hours", LONG, "That must be text of at most"),
]

# (question, answer, setting, its value): taken as it is meant, and shown where it shows.
UNDERSTOOD = [
    ("network", "homenet", "wifi.ssid", "HomeNet"),
    ("network", '"HomeNet"', "wifi.ssid", "HomeNet"),
    ("network", " 1 ", "wifi.ssid", "HomeNet"),
    ("network", "1)", "wifi.ssid", "HomeNet"),
    ("network", "#1", "wifi.ssid", "HomeNet"),
    ("password", " correct horse ", "wifi.password", "correct horse"),
    ("provider", "OTHER", "llm.base_url", "http://192.168.1.2:8080/v1"),
    ("address", "192.168.1.2:8080/v1", "llm.base_url", "http://192.168.1.2:8080/v1"),
    ("address", "HTTP://192.168.1.2:8080/v1", "llm.base_url", "http://192.168.1.2:8080/v1"),
    ("address", "llm.example.org/v1", "llm.base_url", "https://llm.example.org/v1"),
    ("address", "<https://a.example/v1/chat/completions>", "llm.base_url", "https://a.example/v1"),
    ("api", "CHAT", "llm.api", "chat"),
    ("key", f"Bearer {KEY}", "llm.api_key", KEY),
    ("key", f'"{KEY}"', "llm.api_key", KEY),
    ("key", f" {KEY} ", "llm.api_key", KEY),
    ("key", f"export OPENAI_API_KEY='{KEY}'", "llm.api_key", KEY),
    ("key", f"Authorization: Bearer {KEY}", "llm.api_key", KEY),
    ("token", f"bot{TOKEN}", "telegram.token", TOKEN),
    ("token", f" {TOKEN} ", "telegram.token", TOKEN),
    ("token", f"TELEGRAM_TOKEN={TOKEN}", "telegram.token", TOKEN),
    ("token", f"https://api.telegram.org/bot{TOKEN}/getMe", "telegram.token", TOKEN),
    ("zone", "berlin", "time.zone", BERLIN),
    ("zone", "New York", "time.zone", posix_zone("America/New_York")),
    ("zone", "UTC+2", "time.zone", "+02:00"),
    ("zone", "GMT-5", "time.zone", "-05:00"),
    ("zone", "+5:30", "time.zone", "+05:30"),
    ("hours", "8 to 22", "heartbeat.active_hours", "08:00-22:00"),
    ("hours", "22-8", "heartbeat.active_hours", "22:00-08:00"),
    ("hours", "8am - 10:30pm", "heartbeat.active_hours", "08:00-22:30"),
    ("hours", "always", "heartbeat.active_hours", ""),
    ("hours", "-", "heartbeat.active_hours", ""),
]


class Dialog:
    """The questions, answered line by line by a person; an exception is a key that ends it."""

    def __init__(self, monkeypatch, capsys, answers, before=None):
        self.settings = json.loads(json.dumps(before or {}))
        self.parts = []
        self.kept = {}
        self._answers = iter(answers)
        for name in ("visible_prompt_func", "hidden_prompt_func"):
            monkeypatch.setattr(f"click.termui.{name}", self._typed)
        self.titles = []
        # Each wrong answer calls it again.
        monkeypatch.setattr(prompts, "ask", self._ask)
        self.stopped = False
        try:
            questions.ask_all(Trial(), self.settings, self._keep)
        except click.Abort:
            self.stopped = True
        self.output = capsys.readouterr().err
        assert next(self._answers, None) is None, self.output

    def _ask(self, title, *arguments, **options):
        self.titles.append(title)
        return _ASK(title, *arguments, **options)

    def _typed(self, _):
        answer = next(self._answers)
        if not isinstance(answer, str):
            raise answer
        return answer

    def _keep(self, part):
        check(self.settings)
        self.parts.append(part)
        self.kept = json.loads(json.dumps(self.settings))

    def asked(self, question):
        """How many times was it asked?"""
        return sum(title.startswith(_TITLES[question]) for title in self.titles)


_ASK = prompts.ask
_TITLES = {name: title for name, title, _ in QUESTIONS}


@pytest.fixture
def dialog(monkeypatch, capsys):
    return functools.partial(Dialog, monkeypatch, capsys)


def script(question, *answers):
    """Right answers, with others in place of the one of a question."""
    found = []
    for name, _, right in QUESTIONS:
        found += answers if name == question else [right]
    return found


def right(question):
    return next(answer for name, _, answer in QUESTIONS if name == question)


@pytest.mark.parametrize(("question", "answer", "sentence"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_answer_is_explained_and_asked_again(dialog, question, answer, sentence):
    made = dialog(script(question, answer, right(question)))
    assert made.settings == WANTED, made.output
    assert made.parts == ["Wi-Fi", "model", "Telegram", "time zone", "active hours"]
    said = [line for line in made.output.splitlines() if sentence in line]
    assert len(said) == 1 and len(said[0]) < 300, made.output
    # A question may end a sentence, too.
    assert said[0].endswith((".", "?")) and said[0].isprintable()
    assert made.asked(question) == 2 and all(
        made.asked(name) == 1 for name, _, _ in QUESTIONS if name != question
    ), made.output
    for secret in (KEY, TOKEN, "correct horse"):
        assert secret not in made.output


@pytest.mark.parametrize(
    ("question", "answer", "key", "value"), UNDERSTOOD, ids=range(len(UNDERSTOOD))
)
def test_an_answer_is_taken_as_it_is_meant(dialog, question, answer, key, value):
    made = dialog(script(question, answer))
    assert get(made.settings, key) == value, made.output
    assert made.parts == ["Wi-Fi", "model", "Telegram", "time zone", "active hours"]
    for secret in (KEY, TOKEN, "correct horse"):
        assert secret not in made.output


def test_a_network_that_needs_a_password_leads_back_to_the_networks(dialog):
    made = dialog(["1", "", "M\u00fcllers", *script("network")[1:]])
    assert "HomeNet needs its password" in made.output
    assert made.kept["wifi"] == {"ssid": "M\u00fcllers"}


def test_what_the_board_refuses_is_asked_again(dialog):
    wifi = [
        "Elsewhere",
        "some password",
        "maybe",
        "y",
        "1",
        "wrong horse",
        "",
        "",
        "correct horse",
    ]
    model = ["other", "http://a:1/v1", "chat", "sk-wrong", "m", "", "", "", "", KEY, ""]
    telegram = ["1:AAEwrong", "yes", TOKEN]
    made = dialog([*wifi, *model, *telegram, "Europe/Berlin", "8-22"])
    assert made.output.count("Answer y for yes or n for no.") == 1
    assert made.settings["wifi"] == WANTED["wifi"]
    llm = {"base_url": "http://a:1/v1", "api": "chat", "api_key": KEY, "model": "m"}
    assert made.settings["llm"] == llm
    assert made.settings["telegram"] == WANTED["telegram"]


def test_a_part_that_is_given_up_stays_as_it_was(dialog):
    model = ["other", "http://a:1/v1", "chat", "sk-wrong", "m", "n"]
    made = dialog(["1", "correct horse", *model, "1:AAEwrong", "No", "", ""], before=WANTED)
    assert made.settings == WANTED
    assert made.parts == ["Wi-Fi", "time zone", "active hours"]


@pytest.mark.parametrize("key", [KeyboardInterrupt(), EOFError()], ids=["Ctrl-C", "Ctrl-D"])
@pytest.mark.parametrize("question", [name for name, _, _ in QUESTIONS])
def test_a_key_ends_it_at_each_question_and_the_next_run_goes_on(dialog, question, key):
    at = [name for name, _, _ in QUESTIONS].index(question)
    made = dialog([*script("")[:at], key])
    assert made.stopped
    done = [(2, "wifi"), (7, "llm"), (8, "telegram"), (9, "time")]
    assert made.kept == {name: WANTED[name] for count, name in done if count <= at}
    # Enter takes the saved answers.
    saved = [name for count, name in done if count <= at]
    answers = ["" if section_of(name) in saved else one for name, _, one in QUESTIONS]
    again = dialog(answers, before=made.kept)
    assert again.settings == WANTED, again.output


def section_of(question):
    return {"network": "wifi", "password": "wifi", "token": "telegram", "zone": "time"}.get(
        question, "heartbeat" if question == "hours" else "llm"
    )


@pytest.mark.parametrize(
    "letters", [UnicodeDecodeError("utf-8", b"\xe9", 0, 1, "invalid"), "m\udce9"]
)
def test_letters_of_another_encoding_are_asked_for_again(dialog, letters):
    made = dialog(script("model", letters, "qwen3:8b"))
    assert made.settings == WANTED
    assert "Some of these letters aren't UTF-8" in made.output


@pytest.mark.parametrize("answer", ["maybe", "j", "1", "\x1b[A", "yess", "\u662f"])
def test_yes_or_no(monkeypatch, capsys, answer):
    answers = iter([answer, "Y"])
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: next(answers))
    assert prompts.confirm("Use it?")
    assert capsys.readouterr().err.count("Answer y for yes or n for no.\n") == 1


def test_a_choice_of_letters(monkeypatch, capsys):
    answers = iter(["here", "H"])
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: next(answers))
    assert prompts.choose("Which", ["h", "b", "s"], "s") == "h"
    assert "Answer h, b or s.\n" in capsys.readouterr().err
