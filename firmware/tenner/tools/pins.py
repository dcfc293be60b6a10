# tenner tools.pins: what the tools gpio, adc and pwm share.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.tools.subjects import with_places


def check(args, ctx, use):
    """Put the pin's own name and its number into the arguments; OSError when it may not be used so."""
    args["pin"], args["gpio"] = ctx.port.pins().check(args["pin"], use)


def subjects(args):
    """Return what a list of the owner's may name: the action, the pin by its name or number, or both."""
    return with_places(args["action"], args["pin"], args["gpio"])


def shown(args):
    return "%s (%s)" % (args["pin"], args["gpio"])
