# tenner tools.pins: the common code of the tools gpio, adc and pwm.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.tools.subjects import with_places


def check(args, ctx, use):
    """Put the pin's own name and its number into the arguments; raise OSError if `use` is not
    allowed."""
    args["pin"], args["gpio"] = ctx.port.pins().check(args["pin"], use)


def subjects(args):
    """Return the texts for the owner's rules: the action, the pin by its name or number, or
    both."""
    return with_places(args["action"], args["pin"], args["gpio"])


def shown(args):
    return "%s (%s)" % (args["pin"], args["gpio"])
