# tenner tools.pins: what the tools gpio, adc and pwm share.
# MIT license; Copyright (c) 2026 the tenner authors


def check(args, ctx, use):
    """Put the pin's own name and its number into the arguments; OSError when it may not be used so."""
    args["pin"], args["gpio"] = ctx.port.pins().check(args["pin"], use)


def places(args):
    return args["pin"], args["gpio"]


def shown(args):
    return "%s (%s)" % places(args)
