# tenner tools: what the model can do; one small module and one schema file per tool.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`x.json` is exactly what the model is shown: {"name", "description", "parameters"}. In the description,
` read(bus?,address,length?)`, after a space, says that there is an action `read` and which arguments it
needs; the checker reads it there, so that it is said once. `x.py` is loaded when it is called, on a
small board evicted again after it, so it keeps no state. It has

    async def run(args, ctx)      returns text, or raises ToolError with a sentence for the model

and, where the tool needs it,

    NEEDS = "port:i2c"            what must be there for the tool to be offered, each word of it: `port:i2c`, something the
                                  board can do; `file:SENSORS.json` in the workspace; a setting that is made, such as
                                  `skills.index`; `a|b` is one of the two
    TURNS = "person"              the kinds of turn it is offered in, of: person heartbeat cron spawn; without it, all.
                                  Both are read from the file without running it: one line, one text in double quotes
    def check(args, ctx)          what the schema cannot say; raises ToolError before anything is done
    def approval(args, ctx)       the exact action in one sentence, if the owner must approve it by default
    def subjects(args)            the texts of which one must match if the owner's rule for the tool is a list, such as
                                  "read" and "read i2c0:0x48"; without it, the argument `action`
    def covers(rule, args)        does an entry of that list cover the call, where texts are not compared as they are
    async def preview(args, ctx)  what the owner is shown below the question of `approval`, where that must be fetched first
    LIMITS = {"length": (1, 256)} least and most of numbers, entries and characters: every byte of the
                                  schema is sent with every request, this is not (built-in tools only)
    ASK_ANYWAY = True             ask what `approval` says even when the owner set the tool to allow
    OUTSIDE = True                what it returns was written by strangers: from then on the turn asks before
                                  it changes what later turns go by, and so does a later one whose history
                                  has the call (agent.context knows it by its name)
    LEAVES = True                 its arguments are for others to see, as those of a tool with OUTSIDE: a secret of
                                  config.json in them is refused
    CHECKED_THERE = True          whoever runs it checks the arguments, not its schema here
    DEADLINE_S, RESULT_CAP        other limits than 60 s and 1,024 characters
"""

from tenner.tools.errors import ToolError
from tenner.tools.untrusted import mark_untrusted

__all__ = ("ToolError", "mark_untrusted")
