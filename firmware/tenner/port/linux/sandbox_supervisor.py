# tenner port.linux.sandbox_supervisor: the process between the agent and a command: see `sandbox`.
# MIT license; Copyright (c) 2026 the tenner authors

import os
import time

from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.port.linux import namespace, process, signals
from tenner.port.linux.buses import listed
from tenner.port.linux.process import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port.types import Confined

_PROCESSES = const(64)
_OPEN_FILES = const(128)
_MB = const(1048576)
_FILE_MB = const(16)
_GROWTH_MB = const(64)  # a command's share of a disk
_COUNT_MS = const(100)
_STEP_S = 0.005
_SWEEP_S = const(5)

# <sys/resource.h>
_CPU = const(0)
_FSIZE = const(1)
_DATA = const(2)
_CORE = const(4)
_NPROC = const(6)
_NOFILE = const(7)
_MEMLOCK = const(8)
_MSGQUEUE = const(12)
# <linux/prctl.h>, <sched.h>
_DEATH_SIGNAL = const(1)
_DUMPABLE = const(4)
_SUBREAPER = const(36)
_NO_NEW_PRIVS = const(38)
_NEWIPC = const(0x08000000)
_NEWNET = const(0x40000000)

_KILL = const(9)
_SHARED = ("/tmp", "/var/tmp", "/dev/shm")  # where anybody may write
_ENVIRONMENT = (
    "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
    "HOME=/tmp",
    "TMPDIR=/tmp",
    "LANG=C.UTF-8",
    "TERM=dumb",
)


def supervise(
    sandbox: "Confined",
    path: str,
    words: list[str],
    limits: tuple[int, int, bool],
    out: int,
    tell: int,
    control: int,
) -> None:
    """Run the program and report how it ended; does not return."""
    try:
        _close_all((out, tell, control))
        signals.usual()
        call("setsid")
        _Supervisor(sandbox, limits, out, tell, control).run(path, words)
    except BaseException as error:
        _report(tell, "! %s\n" % error)
    finally:
        process.leave(1)


class _Supervisor:
    def __init__(self, sandbox, limits, out, tell, control):
        self.sandbox = sandbox
        self.timeout_s, self.memory_mb, self.network = limits
        self._out = out
        self._tell = tell
        self._control = control

    def run(self, path, words):
        sandbox = self.sandbox
        enough = _PROCESSES
        process.limit(_CORE, 0)
        if sandbox.rooted:
            call("prctl", _SUBREAPER, 1, 0, 0, 0)
        else:
            # The user's other processes count too.
            enough += _tasks(sandbox.uid)
            namespace.enter(sandbox.uid, sandbox.gid, self.network)
        pid = process.fork()
        if pid == 0:
            try:
                self._command(path, words, enough)
            except BaseException as error:
                _report(self._tell, "! %s\n" % error)
            finally:
                process.leave(1)
        process.close(self._out)
        try:
            code, why = self._watch(pid)
        finally:
            self._kill(pid)
        self._sweep()
        _report(self._tell, "%d %s" % (code, why))
        process.leave(0)

    # --- in the command's process

    def _command(self, path, words, enough):
        sandbox = self.sandbox
        call("setsid")
        null = call("open", "/dev/null", 2)
        for fd, target in ((null, 0), (self._out, 1), (self._out, 2)):
            call("dup2", fd, target)
        call("fcntl", self._tell, 2, 1)  # F_SETFD, FD_CLOEXEC
        _close_all((self._tell,))
        if sandbox.rooted:
            call("chdir", sandbox.workspace)
            # Shared memory of System V would outlive it; not every kernel has it, or its
            # namespaces.
            _quietly(call, "unshare", _NEWIPC)
            if not self.network:
                try:
                    call("unshare", _NEWNET)
                except OSError:
                    raise OSError(
                        "this kernel cannot keep a command from the network: only with "
                        "exec.network true"
                    )
        else:
            namespace.furnish(sandbox.workspace, sandbox.folder)
            # This process is the first of its namespace: the others end with it, and none of them
            # may look at its memory and environment, which are the agent's.
            call("prctl", _DUMPABLE, 0, 0, 0, 0)
            pid = process.fork()
            if pid:
                process.leave(_outlive(pid))
            call("prctl", _DUMPABLE, 1, 0, 0, 0)
        try:
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write("1000")
        except OSError:
            pass  # the memory it may take is limited anyway
        for kind, value in (
            (_CPU, self.timeout_s + 1),
            (_FSIZE, _FILE_MB * _MB),
            (_DATA, self.memory_mb * _MB),
            (_NPROC, enough),
            (_NOFILE, _OPEN_FILES),
            (_MEMLOCK, 0),
            (_MSGQUEUE, 0),
        ):
            process.limit(kind, value)
        call("umask", 0o077)
        call("setpriority", 0, 0, 19)
        for signal in (1, 2, 3, 13, 15, 25):
            # Interpreters ignore some of them, and that is inherited. It returns an address, of
            # any sign.
            _quietly(call, "signal", signal, 0)
        self._become()
        call("prctl", _NO_NEW_PRIVS, 1, 0, 0, 0)
        if sandbox.rooted:
            call("prctl", _DEATH_SIGNAL, _KILL, 0, 0, 0)
        process.execute(path, words, _ENVIRONMENT)

    def _become(self):
        """Be the command's user from now on, and never root again."""
        sandbox = self.sandbox
        if sandbox.rooted:
            call("setgroups", 0, 0)
            call("setresgid", sandbox.gid, sandbox.gid, sandbox.gid)
            call("setresuid", sandbox.uid, sandbox.uid, sandbox.uid)
        if process.user() != sandbox.uid or sandbox.uid == 0:
            raise OSError("the command would run as another user than it should")

    # --- beside it

    def _watch(self, pid):
        """Return (exit code or -signal, why it is to be killed or "")."""
        start = ticks_ms()
        room = [(folder, _free(folder)) for folder in (self.sandbox.folder,) + _SHARED]
        used = self._used()
        counted = start
        buf = bytearray(1)
        while True:
            ended = process.wait(-1)
            while ended and ended[0]:
                if ended[0] == pid:
                    return _code(ended[1]), ""
                ended = process.wait(-1)
            if process.read_into(self._control, buf) == 0:
                return -_KILL, "it was stopped"
            if ticks_diff(ticks_ms(), start) > self.timeout_s * 1000:
                return -_KILL, "it took longer than %d s" % self.timeout_s
            if ticks_diff(ticks_ms(), counted) > _COUNT_MS:
                counted = ticks_ms()
                for folder, free in room:
                    left = _free(folder)
                    # Others write there too, so count the command's files; only the disk shows
                    # files without a name.
                    if left < free - _GROWTH_MB * _MB and (
                        left < free // 2 or self._used() > used + _GROWTH_MB * _MB
                    ):
                        return -_KILL, "it filled the disk"
            time.sleep(_STEP_S)

    def _used(self):
        """Return the bytes of all files that a command may have made."""
        total = _size(self.sandbox.folder)
        if self.sandbox.rooted:
            for folder in _SHARED:
                for name in listed(folder):
                    if _owner(folder + "/" + name) == self.sandbox.uid:
                        total += _size(folder + "/" + name)
        return total

    def _kill(self, pid):
        """Kill the command's entire process tree."""
        if not self.sandbox.rooted:
            _quietly(process.kill, pid, _KILL)
        while True:
            ended = process.wait(-1)
            if ended is None:
                return
            if ended[0]:
                continue
            if self.sandbox.rooted:
                # Kill all of the user's at once: one by one they could multiply faster.
                killer = self._as_its_user(_quietly, process.kill, -1, _KILL)
                # One killer at a time: copies of a slow agent would pile up, and there would
                # always be one to wait for.
                while process.wait(killer) == (0, 0):
                    time.sleep(_STEP_S)
                for name in os.listdir("/proc"):
                    if name.isdigit() and _owner("/proc/" + name) == self.sandbox.uid:
                        _quietly(process.kill, int(name), _KILL)
            time.sleep(_STEP_S)

    def _sweep(self):
        """Remove links and pipes from the command's folder, and the files it left elsewhere."""
        # Its user cannot get there by the full path.
        call("chdir", self.sandbox.folder)
        if not self.sandbox.rooted:
            return _tidy(".")
        self._as_its_user(_clean, self.sandbox.uid)
        while process.wait(-1) is not None:
            time.sleep(_STEP_S)

    def _as_its_user(self, work, *args):
        """Call `work` in a process with no more rights than the command; return its number."""
        pid = process.fork()
        if pid == 0:
            try:
                process.limit(_CPU, _SWEEP_S)
                self._become()
                work(*args)
            finally:
                process.leave(0)
        return pid


def _clean(uid):
    _tidy(".")
    for folder in _SHARED:
        for name in listed(folder):
            if _owner(folder + "/" + name) == uid:
                _remove(folder + "/" + name)


def _tidy(folder):
    """Keep only files and folders: no link out of the workspace, no pipe without a writer."""
    entries = _quietly(list, process.entries(folder))
    if entries is None:
        # Its owner may not read it either: open it, so that nothing in it stays unseen.
        _quietly(process.chmod, folder, 0o700)
        entries = _quietly(list, process.entries(folder))
    for name, kind in entries or ():
        path = folder + "/" + name
        if kind == "d":
            _tidy(path)
        elif kind == "" or _links(path) > 1:
            # The command may have taken its own right to write there.
            _quietly(process.chmod, folder, 0o700)
            _quietly(os.unlink, path)


def _links(path):
    known = _quietly(process.owner, path)
    return known[3] if known else 1


def _remove(path):
    try:
        os.unlink(path)
    except OSError:
        for name in listed(path):
            _remove(path + "/" + name)
        _quietly(os.rmdir, path)


def _quietly(function, *args):
    """Call a function; ignore OSError, as its file or process may be gone already."""
    try:
        return function(*args)
    except OSError:
        return None


def _owner(path):
    known = _quietly(process.owner, path)
    return known[1] if known else -1


def _size(path):
    """Return the bytes of a file, or of all files in a folder."""
    stat = _quietly(os.stat, path)
    if stat is None or stat[0] & 0xF000 != 0x4000:
        return stat[6] if stat else 0
    total = 0
    for name, kind in _quietly(list, process.entries(path)) or ():
        if kind:
            total += _size(path + "/" + name)
    return total


def _free(folder):
    known = _quietly(os.statvfs, folder)
    return known[1] * known[4] if known else 0


def _tasks(uid):
    """Return the number of a user's threads, which the kernel counts as processes."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit() and _owner("/proc/" + name) == uid:
            count += len(listed("/proc/%s/task" % name))
    return count


def _outlive(pid):
    """Wait for `pid`, as the first process of a namespace: for others' children too. Return an
    exit code."""
    while True:
        ended = process.wait(-1) or (pid, 0)
        if ended[0] == pid:
            code = _code(ended[1])
            return code if code >= 0 else 128 - code
        if not ended[0]:
            time.sleep(_STEP_S)


def _code(status):
    return -(status & 0x7F) if status & 0x7F else status >> 8 & 0xFF


def _close_all(but):
    """Close every file but those for input, output and errors, and `but`."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in but:
            _quietly(process.close, int(name))


def _report(fd, text):
    data = bytearray(text.encode())
    _quietly(call, "write", fd, data, len(data))
