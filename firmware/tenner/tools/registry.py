# tenner tools.registry: which tools there are, by name; everything else stays on flash.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Built-in tools are the schema files beside this module; the owner adds more by dropping `x.json` and `x.py`
into /workspace/tools. A tool is offered only where its hardware and settings exist, and the owner did not
deny it, so that the prompt stays small.
"""

import os
import sys

from tenner.log import log
from tenner.port.package import package_path
from tenner.store import files
from tenner.tools import ToolError

# What a call loads and what of it belongs to the idle agent.
_FOR_A_CALL = (
    "tenner.tools.",
    "tenner.store.jsontext",
    "tenner.store.modules",
    "tenner.sensors.i2cbus",
)
_STAYS = ("tenner.tools.registry",)


class Registry:
    """The tools of this board: `schemas` for the prompt, `call` for the model's calls."""

    def __init__(self, port, config, workspace):
        self.port = port
        self.config = config
        self.workspace = workspace
        self._folder = package_path("tools")
        self._built_in = _names(self._folder)
        self._user_folder = workspace + "/tools"
        # Size of every schema of the owner that was found good or reported, by name.
        self._seen = {}

    def names(self, kind="person"):
        """Return the sorted names of the tools offered in a turn of this kind."""
        wanted = self.config.get("heartbeat.tools") if kind == "heartbeat" else ("*",)
        names = [
            name
            for name in self._built_in
            if (name in wanted or "*" in wanted)
            and self._available(name)
            and not _refused(name, kind)
        ]
        return sorted(names + self._user_names())

    def schemas(self, kind="person"):
        """Yield the path of each schema, the same on every pass."""
        for name in self.names(kind):
            yield self._path(name)

    async def call(self, name, arguments_text, ctx):
        """Run one call of the model; text comes back whatever happens ("error: ..." if it failed)."""
        from tenner.tools import runner

        text = await runner.call(self, name, arguments_text, ctx)
        if self.port.small:
            # 20 KB that the next request to the model can use.
            from tenner.store.modules import forget

            for prefix in _FOR_A_CALL:
                forget(prefix, _STAYS)
        return text

    def schema_path(self, name, ctx):
        """Return the schema file of a tool this turn may use; ToolError lists those it may."""
        names = self.names(getattr(ctx.turn, "kind", "person"))
        if name not in names:
            raise ToolError(
                'there is no tool "%s" here; tools: %s' % (name[:64], ", ".join(names))
            )
        return self._path(name)

    def module(self, name):
        """Return the module of a tool, imported on its first use."""
        if name in self._built_in:
            __import__("tenner.tools." + name)
            return sys.modules["tenner.tools." + name]
        from tenner.store import modules

        try:
            return modules.load(self._user_folder, name)
        except (ImportError, SyntaxError) as error:
            raise ToolError("the owner's tool %s cannot be loaded: %s" % (name, error))

    def _path(self, name):
        folder = self._folder if name in self._built_in else self._user_folder
        return folder + "/" + name + ".json"

    def _available(self, name):
        """Is there hardware, and a setting where one is needed, for a built-in tool?"""
        rule = self.config.get("tools." + name)
        if rule == "deny":
            return False
        if name == "i2c":
            return bool(self.port.i2c_names())
        if name == "spi":
            return bool(self.port.spi_names())
        if name in ("gpio", "adc", "pwm"):
            return self.port.kind == "esp32"
        if name == "sensor":
            return files.exists(self.workspace + "/SENSORS.json")
        if name == "exec":
            return self.port.kind == "linux" and rule is not None
        return True

    def _problem(self, name):
        if name in self._built_in:
            return "a built-in tool has this name"
        from tenner.tools import usertools

        return usertools.problem(self._path(name), name)

    def _user_names(self):
        """Names of the owner's tools whose schema is sound: a broken one would spoil every request."""
        names = []
        for name in _names(self._user_folder):
            size = files.size(self._path(name))
            if self._seen.get(name) not in (size, -size):
                problem = self._problem(name)
                self._seen[name] = -size if problem else size
                if problem:
                    log("tool", "%s/%s.json is left out: %s" % (self._user_folder, name, problem))
            if self._seen[name] == size:
                names.append(name)
        return names


def _names(folder):
    """Names of the schema files in a folder; none when there is no such folder."""
    if not files.is_folder(folder):
        return []
    return sorted([entry[:-5] for entry in os.listdir(folder) if entry.endswith(".json")])


def _refused(name, kind):
    """Schedules are not changed by what they started, and a sub-agent starts no other."""
    if name == "cron":
        return kind in ("heartbeat", "cron", "spawn")
    return name == "spawn" and kind == "spawn"
