# tenner agent.context: what one model request is made of, streamed from flash.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.port.package import package_path
from tenner.store import files

_PIECE = const(256)

# The owner's files in the order they stand in the prompt, and how many bytes of each are read.
# What changes least comes first: providers cache the unchanged beginning of a prompt.
PERSON_FILES = ("AGENTS", "SOUL", "IDENTITY", "USER", "TOOLS", "memory/MEMORY")
PERSON_FILE_CAP = const(4096)
# A scheduled check pays for every byte on every beat: only who the owner is and what is wired.
HEARTBEAT_FILES = ("IDENTITY", "USER", "TOOLS")
HEARTBEAT_FILE_CAP = const(1024)


def file_pieces(path, cap):
    """Yield at most `cap` bytes of a file, and say where it was cut."""
    with open(path, "rb") as file:
        left = cap
        while left > 0:
            piece = file.read(min(_PIECE, left))
            if not piece:
                return
            left -= len(piece)
            yield piece
        if file.read(1):
            yield b"\n[cut: read_file shows the rest]"


class Request:
    """
    One request to a model, in generators that can be run again: the first pass counts the bytes,
    the second sends them. `session` is None for turns without a history.
    """

    def __init__(self, agent, turn, max_tokens):
        self.max_tokens = max_tokens
        self._agent = agent
        self._turn = turn

    def system(self):
        """Yield the system prompt as raw UTF-8 pieces."""
        turn = self._turn
        kind = turn.kind
        if turn.system is not None:
            yield turn.system.encode()
            return
        person = kind == "person"
        rules = "agent/person.md" if person else "agent/heartbeat.md"
        yield from file_pieces(package_path(rules), 4096)
        cap = PERSON_FILE_CAP if person else HEARTBEAT_FILE_CAP
        for name in PERSON_FILES if person else HEARTBEAT_FILES:
            path = self._agent.workspace + "/" + name + ".md"
            if files.size(path) > 0:
                yield b"\n# " + name.encode() + b".md\n"
                yield from file_pieces(path, cap)

    def records(self):
        """Yield history and this turn's own lines as pieces of history lines (agent.session)."""
        turn = self._turn
        if turn.span is not None:
            yield from turn.session.span(turn.span[0], turn.span[1])
        elif turn.session is not None:
            yield from turn.session.pieces()
        for line in turn.lines:
            for start in range(0, len(line), 512):
                yield line[start : start + 512]

    def tools(self):
        """Yield the paths of the schemas of the tools this turn may use."""
        if self._turn.tools is not None:
            yield from self._turn.tools
        else:
            yield from self._agent.part("registry").schemas(self._turn.kind)
