# tenner runtime.preload: imports the modules of long import chains, the lowest first.
# MIT license; Copyright (c) 2026 the tenner authors
"""
MicroPython's Unix port takes 4 KB of its stack of 40 KB (32-bit) for each nested import. A chip's
build has no such chains.
"""

import tenner.port.compat  # isort: skip
import tenner.log  # isort: skip
import tenner.store.files  # isort: skip
import tenner.net.json.scanner  # isort: skip
import tenner.net.json.writer  # isort: skip
import tenner.store.posix_tz  # isort: skip
import tenner.schedule.due  # isort: skip
import tenner.schedule.line_words  # isort: skip
import tenner.schedule.natural  # isort: skip
import tenner.schedule.known_values  # isort: skip
import tenner.schedule.clauses  # isort: skip
import tenner.schedule.schedule_files  # isort: skip
import tenner.schedule.alarm_texts  # isort: skip
import tenner.agent.history  # isort: skip
import tenner.agent.context  # isort: skip
import tenner.llm.client  # isort: skip
import tenner.mcp.client  # isort: skip
import tenner.tools.mcp_call  # isort: skip
import tenner.tools.registry  # isort: skip
import tenner.tools.prepare  # isort: skip
import tenner.agent.turn  # isort: skip
import tenner.schedule.occurrences  # isort: skip
import tenner.update.install  # isort: skip
import tenner.update.offer  # isort: skip
import tenner.remote.serve  # isort: skip
import tenner.schedule.command  # isort: skip
import tenner.channels.telegram.message  # isort: skip
import tenner.channels.telegram.update  # isort: skip # noqa: F401
