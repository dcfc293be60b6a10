"""A board's keys and place in the network, by which this computer reaches it without a cable."""

from __future__ import annotations

from tenner_host.board.board import Board, Entry
from tenner_host.project import Project
from tenner_host.release import keys
from tenner_host.remote import known
from tenner_host.sync.code import CONFIG, settings_in


def board_files(device: str | None, there: dict[str, Entry]) -> dict[str, bytes]:
    """Return the keys, by their paths, of a board that the owner's computer may update and reach
    over the network."""
    files = keys.board_files(there)
    if device and keys.has_own():
        files |= known.board_files(device)
    return files


def learn(
    board: Board, device: str | None, files: dict[str, bytes], project: Project, address: str
) -> None:
    """Note where to find the board without the cable; `files` are those on it, `address` is ""
    where it is not known."""
    if device is None or known.ON_BOARD not in files:
        return
    settings = settings_in(board.read_files([CONFIG]).get(CONFIG))
    certificates = board.read_files(sorted(board.manifest(["/certs"])))
    known.learn(device, files, settings, list(certificates.values()), address)
    project.remember(remote=device)
