# tenner __main__: starts the agent from a command line: `python -m tenner`.
# MIT license; Copyright (c) 2026 the tenner authors

import gc
import os
import sys

if hasattr(gc, "threshold"):
    # Early collections keep the live heap in few pages: untouched pages cost nothing, and the
    # compiler's litter does not cut the heap into pieces.
    gc.threshold(32768)

# isort: split
# First, before asyncio imports them: 1.1 MB of libraries that are rarely used.
import tenner.port.linux.lazy_import
import tenner.runtime.preload  # noqa: F401

# isort: split
from tenner import app
from tenner.overlay_loader import module
from tenner.port.linux import port
from tenner.port.linux.port import Port
from tenner.runtime import oneshot, stopping
from tenner.store.files import exists, make_dirs

_HELP = """\
usage: python -m tenner [options]        (or: micropython -m tenner)

Runs the agent on this machine until Ctrl-C or SIGTERM.

  --root DIR        folder of config.json, workspace/, state/ and certs/; made if it is not there
                    (default: $TENNER_HOME, else ~/.local/share/tenner)
  --config FILE     settings (default: config.json in the root folder; without --root also
                    ~/.config/tenner/config.json)
  --workspace DIR   the owner's and the agent's files (default: workspace/ in the root folder)
  --once TEXT       one turn: print the reply and end (exit code 1 when there was none)
  --heartbeat       one beat now: print the decision, its reasons and the messages
  --help            this text

Settings can also come from the environment: TENNER_LLM_API_KEY sets llm.api_key.
"""


class _Usage(Exception):
    pass


def _options(argv):
    options = {}
    argv = list(argv)
    while argv:
        name, _, value = argv.pop(0).partition("=")
        if name in ("--help", "-h", "--heartbeat"):
            options[name] = True
        elif name in ("--root", "--config", "--workspace", "--once"):
            if not value:
                if not argv:
                    raise _Usage("%s needs a value" % name)
                value = argv.pop(0)
            options[name] = value
        else:
            raise _Usage("unknown option %s" % name)
    if "--once" in options and "--heartbeat" in options:
        raise _Usage("--once and --heartbeat do not go together")
    return options


def _default_root():
    home = os.getenv("TENNER_HOME")
    if home:
        return home
    data = os.getenv("XDG_DATA_HOME")
    return (data or (os.getenv("HOME") or ".") + "/.local/share") + "/tenner"


def _default_config():
    """Return the path of the user's settings, or None for those in the root folder."""
    if os.getenv("TENNER_HOME"):
        return None
    folder = os.getenv("XDG_CONFIG_HOME") or (os.getenv("HOME") or ".") + "/.config"
    path = folder + "/tenner/config.json"
    return path if exists(path) else None


def main(argv: list[str]) -> int:
    try:
        options = _options(argv)
    except _Usage as error:
        print("tenner: %s; --help shows all options" % error)
        return 2
    if "--help" in options or "-h" in options:
        print(_HELP, end="")
        return 0
    root = options.get("--root") or _default_root()
    config = options.get("--config")
    if not config and "--root" not in options:
        config = _default_config()
    workspace = options.get("--workspace")
    for path in (config, workspace):
        if path and not exists(path):
            print("tenner: %s does not exist" % path)
            return 2
    try:
        make_dirs(root)
    except OSError as error:
        print("tenner: the folder %s cannot be made: %s; name another with --root" % (root, error))
        return 2
    if config:
        # The model's commands must not read it.
        Port.settings = config
    if "--once" in options:
        return oneshot.once(root, config, workspace, options["--once"])
    if "--heartbeat" in options:
        return oneshot.heartbeat(root, config, workspace)
    port.reserve()
    return app.main(root, config, workspace, _equip)


def _equip(app):
    """Have signals end the agent in order, and make its page, which has the log from the first
    line on."""
    app.until_end = lambda: stopping.wait(app)
    if app.config.get("web.enabled"):
        app.page = module("tenner.page.part").make(app)


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
