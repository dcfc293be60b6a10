# tenner tools: the model's tools, one small module and one schema file each.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`x.json` is exactly the schema that the model sees: {"name", "description", "parameters"}. In the
description, ` read(bus?,address,length?)`, after a space, declares an action `read` and the
arguments it needs; the checker reads it there, so no second place repeats it. A call loads `x.py`,
and a small board evicts it afterwards, so it keeps no state. It has

    async def run(args, ctx)      returns text, or raises ToolError with a sentence for the model.

and, where the tool needs it,

    NEEDS = "port:i2c"            the requirements of the offer, separated by spaces: `port:i2c`,
                                  an ability of the board; `file:SENSORS.json` in the workspace; a
                                  setting such as `skills.index`; `a|b` is one of the two.
    TURNS = "person"              the kinds of turn that offer it, of: person heartbeat cron spawn;
                                  without it, all. `tools.built_in` reads both without running
                                  the file: one line, one text in double quotes.
    def check(args, ctx)          checks beyond the schema; raises ToolError before any action.
    def approval(args, ctx)       returns the exact action in one line, if the owner must approve
                                  it by default; or a tuple of that, of words that follow on "May
                                  I ", and of the content, if there is any (`tools.wording`).
    def subjects(args)            returns the texts for the owner's rule, if that is a list: one
                                  must match. For example "read" and "read i2c0:0x48"; without it,
                                  the argument `action`.
    def covers(rule, args)        returns whether an entry of that list covers the call, instead of
                                  comparing texts.
    async def preview(args, ctx)  returns more text for the question of `approval`, if it must be
                                  fetched first or takes memory; "" for none.
    LIMITS = {"length": (1, 256)} the least and the greatest value of numbers, entries and
    characters (built-in tools
                                  only). Every request sends every byte of the schema, but not
                                  these.
    ASK_ANYWAY = True             ask the question of `approval` even when the owner set the tool
                                  to allow.
    OUTSIDE = True                strangers wrote its result. From then on the turn asks before it
                                  changes a file that guides later turns; so does a later turn with
                                  the call in its history (agent.context knows it by its mark).
    LEAVES = True                 others see its arguments, as those of a tool with OUTSIDE: a
                                  secret of config.json in them is an error.
    CHECKED_THERE = True          the tool's server checks the arguments, not the schema here.
    DEADLINE_S, RESULT_CAP        other limits than 60 s and 1,024 characters.
"""

from tenner.tools.errors import ToolError
from tenner.tools.untrusted import mark_untrusted

__all__ = ("ToolError", "mark_untrusted")
