"""Every failure of TLS, and every lack of memory for a connection, with the sentence of the code.

scripts/memory_tables.py makes the tables of docs/memory.md from these rows. Each row names a test
that provokes its cause: `FILE::TEST`, below tests/.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace

from tenner_host import budget
from tenner_host.doctor import inside
from tenner_host.setup import memory

UNKNOWN = ValueError("The certificate is not correctly signed by the trusted CA")
_NO_COMMON = OSError(-30592)

_TLS = "host/test_net_tls.py::"
_NGINX = "services/on_tls.py::test_tls_of_a_"
_RESERVE = "test_net_tls_reserve.py::"
_GUARD = "test_memory_guard.py::"
_BUDGET = "host/test_budget.py::"

#: (cause, the error of MicroPython, test)
FAULTS = [
    ("the root is not in `/certs`", UNKNOWN, _TLS + "test_unknown_authority"),
    ("an intermediate certificate is missing", UNKNOWN, _TLS + "test_a_chain_with_a_fault"),
    ("the certificates are in the wrong order", UNKNOWN, _TLS + "test_a_chain_with_a_fault"),
    ("a root of the same name with another key", UNKNOWN, _TLS + "test_a_chain_with_a_fault"),
    (
        "expired",
        ValueError("The certificate validity has expired"),
        _TLS + "test_an_expired_certificate_is_refused",
    ),
    (
        "not valid yet",
        ValueError("The certificate validity starts in the future"),
        _TLS + "test_not_yet_valid",
    ),
    (
        "another name",
        ValueError("The certificate Common Name (CN) does not match with the expected CN"),
        _TLS + "test_wrong_name",
    ),
    (
        "a key of 1,024 bits",
        ValueError("The certificate is signed with an unacceptable key"),
        _TLS + "test_a_key_that_is_too_short",
    ),
    ("a signature in RSA-PSS", OSError(-0x262E), _NGINX + "version_with_a_chain"),
    ("DHE ciphers alone", _NO_COMMON, _NGINX + "server_with_a_fault"),
    ("TLS 1.3 alone", _NO_COMMON, _TLS + "test_only_tls_13"),
    ("no TLS at that port", OSError(-29184), _TLS + "test_server_that_speaks_no_tls"),
    (
        "Mbed TLS 3.6.6 at a server with RSA and no TLS 1.3",
        OSError(-26112),
        _NGINX + "version_with_a_chain",
    ),
]


def _never(error: Exception) -> str:
    """A server that needs more than the board has after any start."""
    from test_net_tls_reserve import Context, TestNeeds, connect, made

    case = TestNeeds()
    try:
        _, said = connect(made(case, Context(40000)), "api.telegram.org", error=error)
        return str(said)
    finally:
        case.doCleanups()


def _later() -> str:
    """A good certificate that fails after memory was short."""
    from test_net_tls_reserve import Context, TestNeeds, connect, made

    case = TestNeeds()
    try:
        reserve = made(case, Context(60000))
        connect(reserve, error=OSError(12))
        return str(connect(reserve, "b.example", error=UNKNOWN)[1])
    finally:
        case.doCleanups()


def _restart(lack: bool) -> str:
    """The message of the board of tests/test_memory_guard.py to its owner."""
    import test_memory_guard as guard
    from tenner.runtime import memory_guard

    case = guard.TestGuard()
    case.setUp()
    try:
        board = case.board
        if lack:
            board.semaphore.reserve = guard.Reserve()
            board.semaphore.reserve.sentence = lambda: _never(OSError(12))
            board.semaphore.reserve.lack = "m.example", 46000
            board.semaphore.shortages = 3
        else:
            board.memory = 7000, 6000, 900
        asyncio.run(memory_guard.restart_if_short(board))
        if not lack:
            asyncio.run(memory_guard.report(board))
        return str(board.told[-1])
    finally:
        case.doCleanups()


def _status(least: int, why: str | None) -> str:
    from tenner.channels import status_lines

    app = SimpleNamespace(
        port=SimpleNamespace(
            memory=lambda: (50000, 50000),
            system_memory=lambda: (30000, 20000, least),
            shares_memory=True,
            network_up=lambda: True,
        ),
        clock=SimpleNamespace(mono_s=lambda: 60),
        get=lambda name: SimpleNamespace(why=lambda: why),
        now_text=lambda: "",
        telegram=None,
    )
    return next(line for line in status_lines.lines(app, 0) if line.startswith("memory: "))


def explained(error: Exception) -> str:
    from tenner.net.tls import explain

    return str(explain(error))


def model(error: Exception) -> str:
    from tenner.llm import failure
    from tenner.llm.chain import Candidate

    candidate = Candidate("main", "chat", "https://m.example/v1", "", "m", 1024)
    return str(failure.failed(candidate, error, 60))


def telegram(error: Exception) -> str:
    from tenner.channels.telegram import api

    return api.reason(error)


def _question() -> str:
    from tenner.channels.question import SHORT

    return SHORT


def _doctor(data: bytes) -> str:
    (finding,) = inside.check_needs(data, "ESP32_GENERIC")
    return f"{finding.text}; {finding.do}"


def _setup() -> str:
    lines = [
        "for Wi-Fi and TLS: 40 KB free, 20 KB of it in one block, 1 KB at the least",
        "telegram: polling",
    ]
    return memory.watch(lambda: lines, lambda: None)


#: (cause, where it is said, the sentence, test)
SHORTAGES: list[tuple[str, str, Callable[[], str], str]] = [
    (
        "too little memory for the buffers of a connection",
        "the log, `/status`, answers",
        lambda: explained(OSError(12)),
        _RESERVE + "test_numbers_that_mean_no_memory",
    ),
    (
        "too little for the big integers of the handshake",
        "the same",
        lambda: explained(OSError(-0x4290)),
        _RESERVE + "test_numbers_that_mean_no_memory",
    ),
    (
        "a certificate fails without enough memory, or after a shortage",
        "the same; never that of an unknown authority",
        _later,
        _RESERVE + "test_after_a_shortage_no_certificate_is_blamed",
    ),
    (
        "a server needs more than the board has after any start",
        "the same",
        lambda: _never(OSError(12)),
        _RESERVE + "test_what_a_start_cannot_repair_is_said_with_host_and_amount",
    ),
    (
        "the same, at the broker",
        "the state of MQTT",
        lambda: _never(UNKNOWN),
        _RESERVE + "test_a_broker_that_can_never_fit_is_named",
    ),
    (
        "the same",
        "a message to the owner, once, on a channel that works",
        lambda: _restart(True),
        _GUARD + "test_where_a_restart_cannot_help_the_owner_is_told_once_instead",
    ),
    (
        "the same",
        "`/status`",
        lambda: _status(900, _never(OSError(12))),
        "host/test_tls_causes.py::test_each_place_has_its_sentence",
    ),
    (
        "a model's connection lacks memory",
        "the answer",
        lambda: model(OSError(12)),
        "host/test_tls_causes.py::test_each_place_has_its_sentence",
    ),
    (
        "a question to the owner finds no connection",
        "the result of the tool",
        _question,
        _GUARD + "test_a_question_that_no_connection_can_take_fails",
    ),
    (
        "memory stays short between turns",
        "a message after the restart, once an hour",
        lambda: _restart(False),
        _GUARD + "test_a_restart_waits_for_the_turn_and_is_told_once",
    ),
    (
        "less than 4 KB were left at the worst moment",
        "`/status`",
        lambda: _status(900, None),
        "host/test_tls_causes.py::test_each_place_has_its_sentence",
    ),
    (
        "the same",
        "`tenner setup`, from the running agent",
        _setup,
        _BUDGET + "test_setup_listens_to_the_agent",
    ),
    (
        "an image without room for Telegram",
        "`tenner flash`, before it writes, and `tenner setup`",
        lambda: budget.shortage("ESP32_GENERIC"),
        _BUDGET + "test_flash_says_it_once",
    ),
    (
        "the agent has found that a server never fits",
        "`tenner doctor`",
        lambda: _doctor(b"api.telegram.org 48400 told"),
        _BUDGET + "test_the_doctor_says_which_server_does_not_fit",
    ),
    (
        "a learned need is over the budget",
        "`tenner doctor`",
        lambda: _doctor(b"api.telegram.org 48400"),
        _BUDGET + "test_the_doctor_says_which_server_does_not_fit",
    ),
]
