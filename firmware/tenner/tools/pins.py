# tenner tools.pins: the common code of the tools gpio, adc and pwm.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.tools.patterns import with_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.tools.types import ToolContext


def check(args: dict, ctx: "ToolContext", use: str) -> None:
    """Put the pin's own name and its number into the arguments; raise OSError if `use` is not
    allowed."""
    args["pin"], args["gpio"] = ctx.port.pins().check(args["pin"], use)


def subjects(args: dict) -> "Sequence[str]":
    """Return the texts for the owner's rules: the action, the pin by its name or number, or
    both."""
    return with_places(args["action"], args["pin"], args["gpio"])


def shown(args: dict) -> str:
    return "%s (%s)" % (args["pin"], args["gpio"])
