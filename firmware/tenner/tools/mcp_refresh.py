# tenner tools.mcp_refresh: asks MCP servers for their tools, and stores the lists.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import os

from tenner import overlay
from tenner.log import log
from tenner.mcp.listing import fetch, plain
from tenner.port.compat import const
from tenner.store import files
from tenner.store.appendlog import dumps
from tenner.tools.mcp_tools import due, folder, lines, stamp, tag
from tenner.tools.patterns import matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port
    from tenner.tools.types import Web

_MAX_SERVER = const(20)
_MAX_REASON = const(200)


async def refresh(app: "Web", port: "Port", servers: dict) -> None:
    """Ask the servers whose list of tools is missing or a day old; only log failures."""
    place = folder(port)
    now = app.clock.known() or 0
    asked = due(port, servers, now)
    if asked:
        files.make_dirs(place)
    for server in asked:
        if plain(server) != server or "-" in server or len(server) > _MAX_SERVER:
            log(
                "mcp",
                "mcp.%s is left out: a name has at most %d letters, digits and _"
                % (server, _MAX_SERVER),
            )
            continue
        known, _, failures, reason = stamp(port, server)
        same = known == tag(servers, server)
        if not same:
            # It may be another server, which does not know the session.
            files.remove("%s/%s.session" % (place, server))
        http = app.http()
        try:
            wanted = _matcher(servers[server].get("tools", ("*",)))
            # The code that reads the list makes room for the rest.
            found = await overlay.once("LIST", fetch, server, http, servers, place, wanted)
            log("mcp", "%s: %d tools" % (server, len(found)))
            failures, reason = 0, ""
        except (OSError, ValueError, asyncio.TimeoutError) as error:
            reason = str(error)[:_MAX_REASON] or type(error).__name__
            log("mcp", "%s: %s" % (server, reason))
            # The old list stays, and the retry waits, so that turns do not.
            found = list(lines(port, server)) if same else []
            failures = failures + 1 if same else 1
        finally:
            await http.close()
        stamped = (tag(servers, server), now, failures, reason)
        files.write_atomic(
            "%s/%s.tools" % (place, server),
            [dumps(line) + "\n" for line in [stamped] + found],
        )
        kept = [line[0] for line in found]
        for entry in os.listdir(place):
            name = entry.partition(".")[0]
            if name.startswith(server + "-") and name not in kept:
                files.remove(place + "/" + entry)


def _matcher(patterns):
    """Return a function that returns whether the owner wants the tool of a name."""
    if "*" in patterns:
        return lambda name: True
    return lambda name: any(matches(pattern, name) for pattern in patterns)
