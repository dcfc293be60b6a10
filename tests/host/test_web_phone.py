"""`tenner web --phone`: the QR code of the board's own page, and `/page` on Telegram."""

import click
import pytest
import segno
from click.testing import CliRunner

from tenner_host.cli import main
from tenner_host.errors import CommandError
from tenner_host.web import phone
from tenner_sim.services import OWNER
from tests.host.chip_home import Client, chip_home

LINK = "http://192.168.4.22:8767/#code=vis6jniqwr"


@pytest.fixture(scope="module")
def home(micropython32):
    with chip_home(interpreter=micropython32, heap="192K") as made:
        yield made


def modules(lines):
    """The modules of a printed code: two rows a line."""
    for line in lines:
        for half in ("▀█", "▄█"):
            yield [int(letter in half) for letter in line]


def test_the_printed_modules_are_those_of_the_link():
    printed = list(modules(phone.rows(LINK)))
    code = segno.make(LINK, micro=False)
    size = len(code.matrix)
    # Light all around, at least as wide as the code's own border in practice.
    inner = [row[3:-3] for row in printed[3 : 3 + size]]
    assert inner == [[int(one) for one in row] for row in code.matrix]
    around = printed[:3] + printed[3 + size :] + [row[:3] + row[-3:] for row in printed]
    assert len(printed) >= size + 6 and not any(map(any, around))
    assert len(printed[0]) <= 45, "it fits a narrow terminal"


def run(home, *options):
    return CliRunner().invoke(
        main, ["web", "--phone", "--port", home.bench.board.pty, *options], color=True
    )


@pytest.mark.parametrize("options", [(), ("--guests",)], ids=["owner", "guest"])
def test_a_phone_is_let_in_once_by_the_code(home, options):
    done = run(home, *options)
    assert done.exit_code == 0, done.output
    link = click.unstyle(done.stdout).rpartition("or open ")[2].strip()
    drawn = [line for line in done.stdout.splitlines() if line.startswith("\x1b[30m\x1b[107m")]
    assert [click.unstyle(line) for line in drawn] == [*phone.rows(link)]
    assert "no TLS" in done.stderr
    code = link.partition("#code=")[2]
    browser = Client(home)
    answer = browser("POST", "/pair", {"code": code})
    assert answer.status == 200
    assert Client(home)("POST", "/pair", {"code": code}).status == 403
    # Only the answer on the console has it: no line of the log does.
    said = [line for line in home.bench.log.splitlines() if code in line]
    assert all("#code=" in line or "enter the code" in line for line in said), said


def test_telegram_answers_page_with_a_link_for_the_owner(home):
    home.bench.telegram.say(OWNER, "/page")
    told = home.bench.wait_told("#code=")
    code = told.partition("#code=")[2].split()[0]
    assert Client(home)("POST", "/pair", {"code": code}).status == 200
    assert code not in home.bench.log


@pytest.mark.parametrize(
    "answer, part",
    [
        ("This agent serves no page: set web.enabled", "serves no page"),
        ("Within ten minutes, open http://localhost:8767/#code=abc", "certificate"),
        ("Within ten minutes, open https://ADDRESS-OF-THIS-BOARD:8767/#code=abc", "web.hosts"),
    ],
    ids=["none", "local", "nameless"],
)
def test_a_page_that_a_phone_cannot_open_is_a_sentence(answer, part):
    with pytest.raises(CommandError, match=part):
        phone.link_in([answer, "or enter the code abc on the page."])
