"""MicroPython and CPython give the same results: the tables' cases with pieces of other cases in
them."""

import json
import random
import subprocess

import pytest

import tables
from tenner_host import ROOT

RUNNER = ROOT / "tests" / "vectors.py"
FOLDER = ROOT / "tests" / "vectors"
EXAMPLES = 400
# No spaces that only Unicode knows: `strip` leaves them on MicroPython.
PIECES = [
    *" \t\n\r-+*.:;,()[]{}<>`~#|_=/\\'\"!?&%0123456789txnX",
    "\u00fc",
    "\u20ac",
    "\U0001f600",
]
PIECES += [
    "\r\n",
    "- ",
    "1. ",
    "[x]",
    "```",
    "-->",
    "<!--",
    "99999999999",
    "1e9",
    "..",
    "%2e",
]


# Keys that are no foreign text: a wrong one is a mistake of the table.
FIXED = ("after", "at", "errno", "error")


def cases_of(kind):
    """Every case there is of a kind."""
    paths = sorted(FOLDER.glob("*.json"))
    return [
        case
        for path in paths
        if tables.Cases(str(path)).kind == kind
        for case in tables.Cases(str(path))
    ]


def changed(text, texts, dice):
    """The text with one to three random changes: something put in, taken out, or doubled."""
    for _ in range(dice.randint(1, 3)):
        at = dice.randint(0, len(text))
        end = min(len(text), at + dice.randint(0, 4))
        other = dice.choice(texts)
        start = dice.randint(0, len(other))
        new = dice.choice([dice.choice(PIECES), "", other[start : start + 12], text[at:end] * 2])
        text = text[:at] + new + text[end:]
    return text


def mutated(kind, count):
    """Return cases with changed texts, each with CPython's result."""
    known = cases_of(kind)
    dice = random.Random(kind)
    given = [
        {key: case[key] for key in case if key not in tables.KINDS[kind][1]} for case in known
    ]
    texts = [value for case in given for value in case.values() if isinstance(value, str)]
    keys_of = [[k for k in case if isinstance(case[k], str) and k not in FIXED] for case in given]
    found = []
    while len(found) < count:
        case, keys = dice.choice([pair for pair in zip(given, keys_of, strict=True) if pair[1]])
        case = dict(case)
        key = dice.choice(keys)
        case[key] = changed(case[key], texts, dice)
        try:
            answer = tables.KINDS[kind][0](case)
        except ValueError:
            if "error" not in tables.KINDS[kind][1]:
                raise
            answer = {"error": True}
        # "at least these words" is no answer that can be compared.
        answer.pop("says", None)
        # A limit that the line of a fence does not fit; each interpreter quotes it its own way.
        if answer.get("problem"):
            continue
        found.append({**case, **answer})
    return found


@pytest.mark.parametrize(
    "kind",
    [
        "active_hours",
        "classify",
        "cron_next",
        "heartbeat_ack",
        "heartbeat_empty",
        "heartbeat_items",
        "path_sandbox",
        "telegram_html",
        "telegram_split",
        "url_guard",
    ],
)
def test_changed_cases_have_one_answer(kind, tmp_path, micropython32):
    path = tmp_path / f"{kind}.json"
    path.write_text(json.dumps({"kind": kind, "cases": mutated(kind, EXAMPLES)}))
    done = subprocess.run(
        micropython32.command(RUNNER, path), capture_output=True, encoding="utf-8", check=False
    )
    assert done.stdout.splitlines()[-5:] == [f"{EXAMPLES} passed, 0 failed"], done.stderr
