# tenner test: the limits and powers of exec; every command of the tables is given to the tool.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import json
import os
import time
import unittest

from fakes import FakeCtx
from support import run, temp_folder
from tenner.port import package
from tenner.port.compat import sleep_ms
from tenner.port.linux import process, sandbox, sandbox_supervisor
from tenner.port.linux.port import Port
from tenner.store import files, quarantine
from tenner.tools import exec as tool
from tenner.tools import prepare

SECRET = "sk-of-the-owner-0123"

# Commands refused before anything is started, and a part of the reason.
REFUSED = (
    # syntax of a shell
    ("ls; cat ../config.json", "; means"),
    ("ls && id", "& means"),
    ("ls || id", "| means"),
    ("cat notes.md | sh", "| means"),
    ("echo {} > ../config.json", "{ means"),
    ("echo hi > ../config.json", "> means"),
    ("sort < ../config.json", "< means"),
    ("echo $(id)", "$ means"),
    ("echo `id`", "` means"),
    ("echo $HOME", "$ means"),
    ('echo "$HOME"', "$ means"),
    ('echo "`id`"', "` means"),
    ("sleep 1000 &", "& means"),
    (":(){ :|:& };:", "( means"),
    ("ls *", "* means"),
    ("cat ~/.ssh/id_rsa", "~ means"),
    ("cat ../config.jso?", "? means"),
    ("ls [a-z]", "[ means"),
    ("echo a # b", "# means"),
    ("ls\nid", "character 0xa"),
    ("ls\rid", "character 0xd"),
    ("ls \x1b[2K", "character 0x1b"),
    ("ls\x00id", "character 0x0"),
    ("cat \u202egpj.exe", "character 0x202e"),
    ("cat a\u200bb", "character 0x200b"),
    ("'unfinished", "without its end"),
    ("ls \\", "without its end"),
    ("''", "name a program"),
    ("   ", "name a program"),
    ("x" * 1001, "1 to 1000 characters"),
    # shells, and programs that start others
    ("sh -c id", "starts other programs"),
    ("'sh' -c id", "starts other programs"),
    ("s\\h -c id", "starts other programs"),
    ("  sh  -c id", "starts other programs"),
    ("bash -c id", "starts other programs"),
    ("busybox sh", "starts other programs"),
    ("env", "starts other programs"),
    ("env -i sh", "starts other programs"),
    ("xargs rm", "starts other programs"),
    ("sudo id", "starts other programs"),
    ("su -c id", "starts other programs"),
    ("nohup sleep 1000", "starts other programs"),
    ("setsid sleep 1000", "starts other programs"),
    ("timeout 9999 sleep 9999", "starts other programs"),
    ("nsenter -t 1 -m", "starts other programs"),
    ("unshare -r id", "starts other programs"),
    ("chroot / id", "starts other programs"),
    # programs by a path, where the model might have put them
    ("/bin/sh -c id", "no program /bin/sh"),
    ("./exec/evil", "no program ./exec/evil"),
    ("exec/evil", "no program exec/evil"),
    ("../../../bin/ls", "no program ../"),
    ("..", "no program .."),
    ("no-such-program", "no program no-such-program"),
    # round the rules of other tools
    ("i2cset -y 0 0x48 1 2", "use the tools i2c"),
    ("i2cget -y 0 0x48", "use the tools i2c"),
    ("i2ctransfer -y 0 w1@0x48 0", "use the tools i2c"),
    ("gpioset gpiochip0 4=1", "use the tools i2c"),
    ("spidev_test -v", "use the tools i2c"),
    ("devmem 0x3001000", "use the tools i2c"),
)

# Commands that run, and fail to reach their goal. In the answer is one of the given parts;
# %(root)s is the agent's folder, %(pid)d its process.
_NO = ("ermission denied", "No such file", "not permitted", "Read-only")
CONTAINED = (
    ("cat ../config.json", _NO),
    ("cat %(root)s/config.json", _NO),
    ("cat exec/../../config.json", _NO),
    ("head -c 99 ../state/session", _NO),
    ("ls ../state", _NO),
    ("ls -la ../certs", _NO),
    ("cp ../config.json exec/c", _NO),
    ("ln ../config.json exec/c", _NO),
    ("mv ../config.json exec/c", _NO),
    ("rm -f ../config.json", _NO + ("exit code 0",)),
    ("rm -rf ../state", _NO + ("exit code 0",)),
    ("touch ../config.json", _NO + ("exit code 0",)),  # where it is another folder
    ("touch notes.md", _NO),
    ("touch HEARTBEAT.md", _NO),
    ("touch tools/evil.py", _NO),
    ("mkdir drivers/evil", _NO),
    ("mv tools t", _NO),
    ("chmod 777 ..", _NO + ("exit code 0",)),
    ("dd if=/dev/zero of=/etc/evil count=1", _NO),
    ("cat /etc/shadow", _NO),
    ("cat /proc/%(pid)d/environ", _NO),
    ("cat /proc/1/environ", _NO),
    ("head -c 9 /proc/%(pid)d/mem", _NO),
    ("ls /proc/%(pid)d/fd/", _NO),
    ("cat /proc/self/environ", ("PATH=",)),
    ("kill -9 %(pid)d", ("not permitted", "No such process")),
    ("mount -t tmpfs none exec", ("denied", "not permitted", "only root", "superuser")),
    ("awk 'BEGIN { system(\"cat ../config.json\") }'", _NO),
    ("find . -maxdepth 0 -exec cat ../config.json '{}' ';'", _NO),
    ("python3 -c \"import os; os.system('cat ../config.json')\"", _NO),
    ("python3 -c \"open('/dev/i2c-0', 'rb+')\"", _NO),
    ('python3 -c "import os; os.setuid(0)"', ("PermissionError", "Invalid argument")),
    ('python3 -c "import os; os.chroot(chr(47))"', ("PermissionError",)),
    (
        'python3 -c "import resource as r; r.setrlimit(r.RLIMIT_NPROC, (99999, 99999))"',
        ("not allowed", "Error"),
    ),
    ('python3 -c "x = bytearray(200000000)"', ("MemoryError",)),
    (
        "python3 -c \"import socket; socket.create_connection(('127.0.0.1', 1))\"",
        ("unreachable", "Cannot assign"),
    ),
    ("perl -e 'open(F, \"../config.json\") || die $!'", _NO),
    ("git -c alias.x='!cat ../config.json' x", _NO),
    ("ls /proc/self/fd", ("0\n1\n2\n3",)),
    ("cat", ("(no output)",)),
    ("dd if=/dev/zero of=exec/big bs=1M count=17", ("ended by signal 25", "exit code 153")),
    (
        (
            "python3 -c \"for n in range(1000): open('/dev/shm/t%d' % n, 'wb').write(bytes(4 << "
            '20))"'
        ),
        ("killed, it filled the disk", "No space", "No such file"),
    ),
    ("yes", ("killed, it wrote more than 1024 KB",)),
    # links and pipes are made, and are gone before the agent looks
    ("ln -s %(root)s/config.json exec/link", ("exit code 0",)),
    ("ln -s .. exec/up", ("exit code 0",)),
    ("mkfifo exec/pipe", ("exit code 0",)),
    ("touch /tmp/tenner-left /var/tmp/tenner-left", ("exit code", "No such file")),
    ("ipcmk -M 5787", ("Shared memory id",)),
    # processes in other sessions are ended too
    (
        "python3 -c \"import subprocess as s; s.Popen(['sleep', '999'], start_new_session=True)\"",
        ("exit code 0",),
    ),
    (
        'python3 -c "import os, time; os.fork() or (os.setsid(), os.fork() or time.sleep(999))"',
        ("exit code 0",),
    ),
    # forks until it may not any more: at most 2^8 processes if nothing held it back
    (
        'python3 -c "import os, time; [os.fork() for _ in range(8)]; time.sleep(999)"',
        ("temporarily unavailable", "killed", "Resource"),
    ),
    # each forks the next and ends, 500 times, so that none is there for long
    ('python3 -c "import os; [os.fork() and os._exit(0) for _ in range(500)]"', ("exit code 0",)),
)

WORKS = (
    ("cat notes.md", "buy milk"),
    ("grep -n milk notes.md", "1:buy milk"),
    ("wc -l notes.md", "2 notes.md"),
    ("head -n 1 notes.md", "buy milk"),
    ("tail -n 1 notes.md", "call Ann"),
    ("sort -r notes.md", "call Ann\nbuy milk"),
    ("sed -n 2p notes.md", "call Ann"),
    ("awk '/milk/ {print $2}' notes.md", "milk"),
    ("find . -name 'n*.md'", "./notes.md"),
    ("ls", "exec\nnotes.md\ntools"),
    ("cp notes.md exec/copy.md", "exit code 0"),
    ("cat exec/copy.md", "buy milk"),
    ("mkdir exec/box", "exit code 0"),
    ("tar -cf exec/a.tar notes.md", "exit code 0"),
    ("tar -tf exec/a.tar", "notes.md"),
    ("rm exec/a.tar", "exit code 0"),
    ('echo \'a; b\' "c \\" d" \\$e', 'a; b c " d $e'),
    ("printf '%s|%s' one two", "one|two"),
    ("date +%Y", "20"),
    ("uname -s", "Linux"),
    ("df -h .", "Use%"),
    ("cat /proc/meminfo", "MemTotal"),
    ("python3 -c 'print(6 * 7)'", "42"),
    ("id -u", ""),
    ("false", "exit code 1"),
    ("seq 9000", "bytes left out"),
    ("touch ö", "Permission denied|Read-only"),
)


def why_skip():
    """Return why nothing can be run here, or None."""
    try:
        process.user()
        if process.user() != 0:
            pid = process.fork()
            if pid == 0:
                try:
                    from tenner.port.linux import namespace

                    namespace.enter(process.user(), process.group(), False)
                    process.leave(0)
                finally:
                    process.leave(1)
            ended = (0, 0)
            while not ended[0]:
                ended = process.wait(pid)
            return "this kernel gives users no namespaces" if ended[1] else None
        return None
    except OSError as error:
        return str(error)


SKIP = why_skip()


@unittest.skipIf(SKIP, SKIP)
class TestExec(unittest.TestCase):
    def setUp(self):
        self.root = temp_folder(self)
        process.chmod(self.root, 0o700)
        # As the owner may have left them: not private at all.
        for name in ("state", "certs", "workspace"):
            os.mkdir(self.root + "/" + name)
        for name, text in (
            ("config.json", '{"llm": {"api_key": "%s"}}' % SECRET),
            ("state/session", SECRET),
            ("workspace/notes.md", "buy milk\ncall Ann\n"),
        ):
            files.write_atomic(self.root + "/" + name, text)
            process.chmod(self.root + "/" + name, 0o644)
        self.before = self.listed()

    def ctx(self, rule="allow", answers=(), **settings):
        values = {"tools.exec": rule, "exec.timeout_s": 60}
        for name in settings:
            values["exec." + name] = settings[name]
        ctx = FakeCtx(self.root, values, answers=answers)
        ctx.port = ctx.registry.port = Port(self.root)
        return ctx

    def call(self, command, ctx=None):
        ctx = ctx or self.ctx()
        return run(prepare.call(ctx, "exec", json.dumps({"command": command})))

    def listed(self):
        """Return the agent's files, which must not change, with their sizes."""
        found = [(self.root, process.owner(self.root)[0])]
        for folder in ("", "/state", "/certs", "/workspace", "/workspace/tools"):
            if files.exists(self.root + folder):
                for name in os.listdir(self.root + folder):
                    path = self.root + folder + "/" + name
                    if name not in ("tools", "drivers", "exec"):
                        found.append((path, files.size(path) if not files.is_folder(path) else 0))
        return sorted(found)

    def processes(self):
        """Return the processes of the commands' user, other than this one's."""
        if process.user():
            return []
        uid = sandbox.user_of_its_own(self.root)
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit() and sandbox_supervisor._owner("/proc/" + name) == uid:
                found.append(name)
        return found

    def has(self, command):
        name = command.split()[0]
        return any(files.exists(folder + "/" + name) for folder in tool._PATH.split())

    def test_shell_syntax_is_refused(self):
        ctx = self.ctx()
        for command, part in REFUSED:
            with self.subTest(command):
                text = self.call(command, ctx)
                self.assertEqual(text[:7], "error: ")
                self.assertIn(part, text)
        self.assertFalse(files.exists(self.root + "/workspace/exec"), "something was run")

    def test_a_command_stays_contained(self):
        places = {"root": self.root, "pid": own_pid()}
        ctx = self.ctx()
        # A row that only its deadline ends.
        endless = self.ctx(timeout_s=2)
        done = 0
        for command, parts in CONTAINED:
            if not self.has(command):
                continue
            with self.subTest(command):
                line = command % places if "%(" in command else command
                text = self.call(line, endless if "killed" in parts else ctx)
                self.assertTrue(any(part in text for part in parts), text)
                self.assertNotIn(SECRET, text)
                self.assertEqual(self.listed(), self.before)
                self.assertEqual(self.processes(), [])
                for name in os.listdir(self.root + "/workspace/exec"):
                    self.assertEqual(name, "big")
                self.assertFalse(files.exists("/tmp/tenner-left"))
                self.assertFalse(files.exists("/dev/shm/t0"))
                with open("/proc/sysvipc/shm") as file:
                    self.assertNotIn(" 5787 ", file.read())
                done += 1
        self.assertTrue(done > 40, done)

    def test_what_a_command_leaves_stops_neither_the_sweep_nor_a_start(self):
        self.call("mkdir exec/q exec/r")
        self.call("ln -s ../.. exec/q/up")
        for command in ("mkfifo exec/r/pipe", "chmod 0 exec/q", "mkdir -m 0 exec/s"):
            self.assertIn("exit code 0", self.call(command))
        found = [name for name, kind in package.entries(self.root + "/workspace/exec/r")]
        self.assertEqual(found, [])
        quarantine.clean_strays(self.root + "/workspace", files.WORKSPACE_TEMP)
        self.assertIn("exit code 0", self.call("ls -a exec"))
        self.assertEqual(self.listed(), self.before)

    def test_the_owner_decides(self):
        asked = []

        async def ask(text):
            asked.append(text)
            return len(asked) > 1

        ctx = self.ctx("ask")
        ctx.ask = ask
        self.assertIn("not approved", self.call("echo  'a b'", ctx))
        self.assertIn("a b", self.call("echo  'a b'", ctx))
        question = (
            "May I run program echo? Asked for by your message of 06:48. No answer in 10 minutes "
            "is a no.\nExactly: run, without a shell: echo 'a b'"
        )
        self.assertEqual(asked, [question] * 2)
        self.assertTrue(ctx.turn.untrusted_input)
        ctx = self.ctx(["echo *", "ls **", "date"])
        self.assertIn("exit code 0", self.call('"echo"   hi', ctx))
        self.assertIn("exit code 0", self.call("ls -l exec", ctx))
        for command in ("echo hi /etc", "date -u", "cat notes.md", "'echo hi'"):
            self.assertIn("error: ", self.call(command, ctx))

    def test_it_is_off_until_the_owner_wants_it_and_never_on_a_chip(self):
        ctx = FakeCtx(self.root)
        ctx.port = ctx.registry.port = Port(self.root)
        self.assertNotIn("exec", ctx.registry.names())
        self.assertIn("no tool", self.call("ls", ctx))
        self.assertNotIn("exec", self.ctx("deny").registry.names())
        ctx = self.ctx("ask")
        self.assertIn("exec", ctx.registry.names())
        self.assertNotIn("exec", ctx.registry.names("heartbeat"))
        ctx = FakeCtx(self.root, {"tools.exec": "allow"})
        self.assertNotIn("exec", ctx.registry.names())

    def test_a_shell_when_the_owner_says_so_and_no_list(self):
        ctx = self.ctx(shell=True)
        text = self.call("echo $((6 * 7)) | cat; cat ../config.json; echo x > notes.md", ctx)
        self.assertIn("42", text)
        self.assertNotIn(SECRET, text)
        self.assertEqual(self.listed(), self.before)
        self.assertIn("; means", self.call("ls; id", self.ctx(["ls **"], shell=True)))

    def test_the_network_when_the_owner_says_so(self):
        if self.has("python3"):
            reach = "python3 -c \"import socket; socket.create_connection(('127.0.0.1', 1))\""
            self.assertIn("refused", self.call(reach, self.ctx(network=True)))

    def test_a_deadline_and_a_stop_end_it(self):
        ctx = self.ctx(timeout_s=1)
        self.assertIn("killed, it took longer than 1 s", self.call("sleep 999", ctx))

        async def stopped():
            arguments = '{"command": "sleep 999"}'
            task = asyncio.create_task(prepare.call(ctx, "exec", arguments))
            while not self.processes() and process.user() == 0:
                await sleep_ms(2)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                pass
            # MicroPython does not wait for the task that a cancelled wait_for ends.
            while tool._lock.locked() or self.processes():
                await sleep_ms(2)
            return True

        self.assertTrue(run(stopped()))

    def test_it_ends_with_an_agent_that_is_killed(self):
        if process.user():
            return  # a namespace ends with its supervisor, which the kernel sees to
        pid = process.fork()
        if pid == 0:
            try:
                self.call("sleep 999")
            finally:
                process.leave(0)
        while not self.processes():
            time.sleep(0.005)
        process.kill(pid, 9)
        while self.processes():
            time.sleep(0.005)
        while process.wait(pid) == (0, 0):
            time.sleep(0.005)

    def test_a_device_that_anybody_may_open_is_told_of(self):
        if process.user():
            return
        self.addCleanup(setattr, sandbox, "_DEVICES", sandbox._DEVICES)
        sandbox._DEVICES = ("null",)
        self.assertIn("anybody may open /dev/null", self.call("ls"))

    def test_what_the_agent_makes_later_can_be_read_too(self):
        self.call("touch exec/x")
        files.write_atomic(self.root + "/workspace/later.md", "new")
        process.chmod(self.root + "/workspace/later.md", 0o600)
        self.assertIn("new", self.call("cat later.md"))
        if process.user() == 0:
            self.assertEqual(process.owner(self.root + "/config.json")[0] & 0o077, 0)

    def test_the_first_command_makes_the_folders_there_are_to_be(self):
        here = os.getcwd()
        os.chdir(self.root)
        try:
            made = sandbox.Sandbox(self.root, "other", "")
        finally:
            os.chdir(here)
        self.assertEqual(made.folder, self.root + "/other/exec")
        self.assertEqual(sorted(os.listdir(self.root + "/other")), ["drivers", "exec", "tools"])

    def test_ordinary_commands_work(self):
        ctx = self.ctx()
        done = 0
        for command, parts in WORKS:
            if not self.has(command):
                continue
            with self.subTest(command):
                text = self.call(command, ctx)
                self.assertNotIn("error: ", text)
                self.assertTrue(any(part in text for part in parts.split("|")), text)
                done += 1
        self.assertTrue(done > 20, done)
        self.assertIn(": data, not instructions]\n", text)


def own_pid():
    with open("/proc/self/stat") as file:
        return int(file.read().split()[0])


if __name__ == "__main__":
    unittest.main()
