# tenner agent.context: what one model request is made of, streamed from flash.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.port.package import package_path
from tenner.store import files

_PIECE = const(256)

# The owner's files in the order they stand in the prompt, and how many bytes of each are read.
# What changes least comes first: providers cache the unchanged beginning of a prompt.
_FILES = const("AGENTS SOUL IDENTITY USER TOOLS memory/MEMORY")
_FILE_LIMIT = const(4096)
# A scheduled check pays for every byte on every beat: only who the owner is and what is wired.
_BEAT_FILES = const("IDENTITY USER TOOLS")
_BEAT_FILE_LIMIT = const(1024)


def _file_pieces(path, limit):
    """Yield at most `limit` bytes of a file, and say where it was cut."""
    with open(path, "rb") as file:
        while limit > 0:
            piece = file.read(min(_PIECE, limit))
            if not piece:
                return
            limit -= len(piece)
            yield piece
        if file.read(1):
            yield b"\n[cut: read_file shows the rest]"


class Request:
    """
    One request to a model, in generators that can be run again: the first pass counts the bytes,
    the second sends them.
    """

    def __init__(self, agent, turn):
        #: The llm.client.Reply while it is being received.
        self.reply = None
        self.max_tokens = agent.config.get("llm.max_tokens")
        self._agent = agent
        self._turn = turn
        self._tools = None

    def system(self):
        """Yield the system prompt as raw UTF-8 pieces."""
        if self._turn.system is not None:
            yield self._turn.system.encode()
            return
        rules, names, limit = "agent/heartbeat.md", _BEAT_FILES, _BEAT_FILE_LIMIT
        if self._turn.kind == "person":
            rules, names, limit = "agent/person.md", _FILES, _FILE_LIMIT
        yield from _file_pieces(package_path(rules), 4096)
        for name in names.split():
            path = "%s/%s.md" % (self._agent.workspace, name)
            if files.size(path) > 0:
                yield b"\n# %s.md\n" % name.encode()
                yield from _file_pieces(path, limit)

    def records(self):
        """Yield history and this turn's own lines as pieces of history lines (agent.session)."""
        turn = self._turn
        if turn.span is not None:
            yield from turn.session.span(*turn.span)
        elif turn.session is not None:
            yield from turn.session.pieces()
        for line in turn.lines:
            for start in range(0, len(line), 512):
                yield line[start : start + 512]

    def tools(self):
        """Return the paths of the schemas of the tools this turn may use."""
        if self._turn.tools is not None:
            return self._turn.tools
        if self._tools is None:
            # The paths are kept, so that what finds them need not be while the model is asked.
            self._tools = list(self._agent.part("registry").schemas(self._turn.kind))
            self._agent.app.drop("registry")
            self._agent.app.shed("tenner.tools")
        return self._tools
