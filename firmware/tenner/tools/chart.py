# tenner tools.chart: has a picture of a value's readings drawn and sent after the turn.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import charts
from tenner.sensors import ring
from tenner.tools.errors import ToolError
from tenner.tools.untrusted import mark_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.tools.types import ToolContext


NEEDS = "file:SENSORS.json"
LIMITS = {"hours": (0.1, 8784)}


def subjects(args: dict) -> "Sequence[str]":
    return (args["value"],)


async def run(args: dict, ctx: "ToolContext") -> str:
    value = args["value"]
    known = ring.of(ctx.port.path("state"), ctx.config).names()
    # The drawing needs the memory of the turn, so it comes later; a mistake is told now.
    problem = charts.why_not(ctx.config, ctx.agent.app.clock, known, value) or ctx.chart(
        value, int(args.get("hours", 24) * 3600)
    )
    if problem:
        raise ToolError(mark_names("readings", known, problem))
    return "a picture of %s follows your answer" % charts.find(known, value)
