# tenner tools.exec: runs one program on a Linux board, with access only to the workspace.
# MIT license; Copyright (c) 2026 the tenner authors
"""
There is no shell unless `exec.shell` is set: the tool rejects shell syntax instead of taking it as
text. The sandbox limits the command's access, not the words of the command: see
`port.linux.sandbox`.
"""

import asyncio
import os

from tenner.log import visible
from tenner.net.json.writer import decode
from tenner.port.compat import const, sleep_ms
from tenner.port.linux.sandbox import Sandbox
from tenner.tools.errors import ToolError
from tenner.tools.untrusted import mark_untrusted
from tenner.tools.wording import named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.tools.types import ToolContext


_KEEP = const(2000)  # bytes of output, from its start and from its end
_FLOOD = const(1048576)
_LONGEST_POLL_MS = const(25)
_END_POLLS = const(5000)  # ten seconds: a process that waits for a broken disk cannot be killed

NEEDS = "port:exec tools.exec"
LIMITS = {"command": (1, 1000)}
RESULT_CAP = 6000
DEADLINE_S = 630  # exec.timeout_s, and time to end all processes
OUTSIDE = True

_PATH = "/usr/local/bin /usr/bin /bin /usr/local/sbin /usr/sbin /sbin"
# Programs that run another program from their arguments, and programs that replace other tools.
_SHELLS = (
    " sh ash bash dash zsh ksh mksh fish csh tcsh rbash busybox toybox env xargs nohup setsid "
    "timeout nice ionice stdbuf script watch parallel time su sudo doas runuser setpriv chroot "
    "unshare nsenter start-stop-daemon "
)
_BUSES = (
    " i2cset i2cget i2cdump i2cdetect i2ctransfer spi-config spi-pipe spidev_test gpioset gpioget \
gpiomon gpiofind gpioinfo gpio pinctrl raspi-gpio devmem devmem2 "
)
_PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_^"

_lock = asyncio.Lock()


def subjects(args: dict) -> "Sequence[str]":
    return (args["command"],)


def check(args: dict, ctx: "ToolContext") -> None:
    command = args["command"]
    for letter in command:
        if visible(letter) != letter:
            raise ToolError(
                "exec: character 0x%x in the command: one line of plain text" % ord(letter)
            )
    if _with_shell(ctx):
        return
    words = split(command)
    args["command"] = " ".join([quote(word) for word in words])
    name = words[0]
    if " %s " % name in _SHELLS:
        raise ToolError("exec: %s starts other programs: name the program itself" % name)
    if " %s " % name in _BUSES:
        raise ToolError("exec: not %s: use the tools i2c, spi and gpio" % name)
    _program(name)


def approval(args: dict, ctx: "ToolContext") -> tuple[str, str]:
    command = args["command"]
    if _with_shell(ctx):
        return "run, in a shell: " + command, "run a command in a shell"
    plain = "run " + named("program", split(command)[0])
    return "run, without a shell: " + command, plain


async def run(args: dict, ctx: "ToolContext") -> str:
    get = ctx.config.get
    words = ["sh", "-c", args["command"]] if _with_shell(ctx) else split(args["command"])
    limits = (get("exec.timeout_s"), get("exec.memory_mb"), get("exec.network"))
    # One at a time: the end of a command ends all processes of its user.
    async with _lock:
        sandbox = Sandbox(ctx.port.root, ctx.workspace, ctx.port.settings)  # type: ignore[union-attr]
        running = sandbox.start(_program(words[0]), words, limits)
        output = _Output()
        wait_ms = 2
        try:
            ended = ""
            while not ended:
                await sleep_ms(wait_ms)
                wait_ms = min(wait_ms + 1, _LONGEST_POLL_MS)
                ended = running.poll(output.add)
                if output.count > _FLOOD:
                    running.stop()
        finally:
            for _ in range(_END_POLLS):
                if running.gone():
                    break
                await sleep_ms(2)
    if ended.startswith("! "):
        raise ToolError("exec: " + ended[2:].split("\n")[0])
    code, _, why = ended.partition(" ")
    if output.count > _FLOOD:
        why = "it wrote more than %d KB" % (_FLOOD // 1024)
    head = "%s: exit code %s" % (words[0], code)
    if why:
        head = "%s: killed, %s" % (words[0], why)
    elif code[0] == "-":
        head = "%s: ended by signal %s" % (words[0], code[1:])
    return mark_untrusted(head, output.text() or "(no output)")


def split(command: str) -> list[str]:
    """Return the words of a command line as a shell splits them; raise ToolError for other shell
    syntax."""
    words = []
    word: str | None = None
    quoted = ""
    escaped = False
    for letter in command:
        if escaped:
            # In double quotes a backslash is literal before most characters.
            word += letter if not quoted or letter in '"\\$`' else "\\" + letter
            escaped = False
        elif quoted:
            if letter == quoted:
                quoted = ""
            elif quoted == '"' and letter in "$`":
                raise ToolError(_NO_SHELL % letter)
            elif quoted == '"' and letter == "\\":
                escaped = True
            else:
                word += letter
        elif letter in "'\"":
            quoted = letter
            word = word or ""
        elif letter == "\\":
            escaped = True
            word = word or ""
        elif letter == " ":
            if word is not None:
                words.append(word)
            word = None
        elif letter in "|&;<>()$`*?[]{}~#":
            raise ToolError(_NO_SHELL % letter)
        else:
            word = (word or "") + letter
    if quoted or escaped:
        raise ToolError("exec: a quote or backslash without its end")
    if word is not None:
        words.append(word)
    if not words or not words[0]:
        raise ToolError("exec: name a program, as df -h")
    return words


_NO_SHELL = (
    "exec: no shell: %s means nothing here. One program and its arguments; quote it ('...') if "
    "you mean it literally"
)


def quote(word: str) -> str:
    """Return a word in the canonical quoting, for the owner's rules."""
    if word and not [letter for letter in word if letter not in _PLAIN]:
        return word
    return "'%s'" % word.replace("'", "'\\''")


def _with_shell(ctx):
    # A list names the allowed programs; a shell would run others, too.
    return ctx.config.get("exec.shell") and not isinstance(ctx.config.get("tools.exec"), list)


def _program(name):
    if "/" not in name and name not in (".", ".."):
        for folder in _PATH.split():
            path = folder + "/" + name
            try:
                mode = os.stat(path)[0]
            except OSError:
                continue
            if mode & 0xF000 == 0x8000 and mode & 1:
                return path
    raise ToolError(
        "exec: there is no program %s: name one of the system's, without a path" % name
    )


class _Output:
    """The start and the end of a command's output."""

    def __init__(self):
        self.count = 0
        self._start = b""
        self._end = b""

    def add(self, data):
        self.count += len(data)
        room = _KEEP - len(self._start)
        self._start += bytes(data[:room])
        self._end = (self._end + bytes(data[room:]))[-_KEEP:]

    def text(self):
        data = self._start
        left = self.count - len(data) - len(self._end)
        if left > 0:
            data += b"\n[... %d bytes left out ...]\n" % left
        return _visible(decode(data + self._end))


def _visible(text):
    """Return text without control characters that move a cursor or hide something."""
    return "".join(
        [one for one in text if one in "\n\t" or (one >= " " and not 0x7F <= ord(one) < 0xA0)]
    ).strip("\n")
