"""Find retired terms: words of this project alone for which the field has a term that a stranger
knows.

`python scripts/check_terms.py [PATH ...]` prints every finding with the term to use. The check
reads names, comments, texts, logs and docs alike. A retired word stays retired: add a row when you
replace one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

#: (retired, its replacement, the files it is retired in: everywhere, or in code only, where prose
#: needs the word).
CODE = (".py", ".pyi", ".sh", ".toml", ".c", ".h")
EVERYWHERE = (*CODE, ".md", ".json", ".tsv", "Makefile")
TERMS = [
    (
        r"gate[ds]?|Gate[ds]?",
        "condition (sensor), semaphore (TLS) or check (decision)",
        EVERYWHERE,
    ),
    (r"cage[ds]?|Cage[ds]?", "sandbox", EVERYWHERE),
    (r"keepers?|Keeper", "supervisor", CODE),
    (r"upkeep", "accounting or maintenance", EVERYWHERE),
    (r"resting", "cooldown", EVERYWHERE),
    (r"anew", "again, or a verb with re-: restart, reload", EVERYWHERE),
    (r"(?:set|put)[_ -]?aside", "quarantine", EVERYWHERE),
    (r"put[_ -]?backs?|PutBack", "preempted, preemption", CODE),
    (r"fleeting", "run_detached", EVERYWHERE),
    (r"overrules?", "cancel_question", CODE),
    (r"usertools", "custom_tools", EVERYWHERE),
    (r"mend(?:s|ed)?", "repair, fix", EVERYWHERE),
    (r"knocks?", "try_enter_raw_repl", CODE),
    (r"senses", "alarm_texts", CODE),
    (r"seat(?:s|ed)?", "start_timer", CODE),
    (r"homely|whomever", "a plain word", EVERYWHERE),
    (r"jsonin|jsonout|jsontext", "json_scanner, json_writer, json_strict", EVERYWHERE),
    (r"web_chars|web_zip", "charset, gzip_stream", EVERYWHERE),
    (r"said before", "told before", EVERYWHERE),
    (r"once more in|again in %d", "retry in", CODE),
    (r"taken as no", "denied", EVERYWHERE),
    (r"nobody to tell|nobody is the owner", "no owner", CODE),
    (r"wish(?:es)?|Wish(?:es)?", "intent (of a person), request (of a program)", CODE),
    (r"trouble[sd]?|Trouble(?:Found)?", "failure, fault or error", CODE),
    (r"outlets?|\w*Outlets?", "endpoint", CODE),
    (r"Ctx", "ToolContext", CODE),
    (r"linux_(?:cage|keeper|later|pages)", "sandbox, sandbox_supervisor, lazy_import", CODE),
    (r"cronwake", "tick", CODE),
    (r"let_go|shed", "overlay.step, evict", CODE),
    (r"take_back|hurry|was_open|is_deaf", "requeue, retry_now, trigger_value, is_starved", CODE),
    (r"refuses us|there is: ", "rejected the connection; available:", CODE),
    (r"no look for|nothing is ever", "no poll; no scheduled tasks", CODE),
    (
        r"tenner_host[./](?:talk|readings|roots)|setup[./]trust|sync[./]switch",
        "console, sensors, ca_roots, board_ca_roots, activate",
        EVERYWHERE,
    ),
    (
        r"tenner_host[./]board[./](?:seen|trouble|link)",
        "board_cache, port_errors, board",
        EVERYWHERE,
    ),
    (
        r"vboard[./](?:world|outlets|answers)",
        "signals, endpoints, onboard_requests",
        EVERYWHERE,
    ),
    (r"services[./](?:wish|wishes|rules)", "intent, intent_rules, answer_rules", EVERYWHERE),
]

#: Texts of others, and the places of this table.
NOT_CHECKED = (
    "scripts/check_terms.py",
    "tests/host/test_terms.py",
    "tests/host/web_pages.py",
    "CHANGELOG.md",
)


class Finding(NamedTuple):
    path: Path
    line: int
    term: str
    use: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: `{self.term}` is retired: {self.use}"


def _pattern(suffix: str) -> tuple[re.Pattern[str], list[str]]:
    """Return a pattern with a group for each term of such files, and the replacements by group."""
    rows = [(retired, use) for retired, use, where in TERMS if suffix in where]
    # An underscore or a change of case ends a word of a name.
    words = "|".join(rf"(?<![A-Za-z])({retired})(?![a-z])" for retired, _ in rows)
    return re.compile(words), [use for _, use in rows]


def findings(paths: Iterable[Path]) -> Iterator[Finding]:
    """Yield the retired terms in the text and the names of these files."""
    for path in paths:
        suffix = path.suffix or path.name
        if suffix not in EVERYWHERE:
            continue
        pattern, uses = _pattern(suffix)
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
        if name in NOT_CHECKED:
            continue
        lines = [name, *path.read_text(encoding="utf-8").splitlines()]
        for number, line in enumerate(lines):
            for found in pattern.finditer(line):
                assert found.lastindex
                yield Finding(path, number, found[0], uses[found.lastindex - 1])


def problems(paths: Iterable[Path]) -> list[str]:
    """Return a sentence for each retired term in these files."""
    return [str(finding) for finding in findings(paths)]


def _tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def main(arguments: list[str]) -> int:
    """Print the findings in these files, or in all; 1 with any."""
    rows = problems([Path(name).resolve() for name in arguments] or _tracked())
    print("\n".join(rows) or "no retired term")
    return 1 if rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
