# tenner tools.mcp_refresh: has MCP servers asked for their tools, and keeps what they have.
# MIT license; Copyright (c) 2026 the tenner authors

import os

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files
from tenner.store.appendlog import dumps
from tenner.tools.mcp import folder, lines, stamp, tag

_RETRY_S = const(24 * 3600 - 600)
_MAX_SERVER = const(20)


async def refresh(registry, servers, app):
    """Ask these servers. What goes wrong is logged, no more."""
    from tenner.mcp.listing import fetch, plain

    place = folder(registry)
    now = app.clock.known() or 0
    files.make_dirs(place)
    for server in servers:
        if plain(server) != server or "-" in server or len(server) > _MAX_SERVER:
            log(
                "mcp",
                "mcp.%s is left out: a name has at most %d letters, digits and _"
                % (server, _MAX_SERVER),
            )
            continue
        at = now
        same = stamp(registry, server)[0] == tag(registry, server)
        if not same:
            # It may be another one by that name, to whom the session means nothing.
            files.remove("%s/%s.session" % (place, server))
        http = app.http()
        try:
            wanted = _matcher(registry.servers[server].get("tools", ("*",)))
            found = await fetch(server, http, registry.servers, place, wanted)
            log("mcp", "%s: %d tools" % (server, len(found)))
        except (OSError, ValueError) as error:
            log("mcp", error)
            # What was known stays. No other turn of the next ten minutes waits for it.
            found = list(lines(registry, server)) if same else []
            at -= _RETRY_S
        finally:
            await http.close()
        files.write_atomic(
            "%s/%s.tools" % (place, server),
            [dumps(line) + "\n" for line in [(tag(registry, server), at)] + found],
        )
        kept = [line[0] for line in found]
        for entry in os.listdir(place):
            name = entry.partition(".")[0]
            if name.startswith(server + "-") and name not in kept:
                files.remove(place + "/" + entry)


def _matcher(patterns):
    """Return a function that says whether a name is one of those the owner wants."""
    if "*" in patterns:
        return lambda name: True
    from tenner.tools.paths import matches

    return lambda name: any(matches(pattern, name) for pattern in patterns)
