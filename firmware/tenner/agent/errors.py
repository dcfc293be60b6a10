# tenner agent.errors: the exceptions that end a turn without a result.
# MIT license; Copyright (c) 2026 the tenner authors


class LaneBusy(Exception):
    """The lane is taken; args[0] is its holder, such as `telegram:1234`."""


class Preempted(Exception):
    """A background turn made way for a person and must be run again; args[0] is its Result."""


class Stopped(Exception):
    """
    Ends the tool loop; args[0] is the sentence for the person who asked. `outage`: no model could
    be reached, so the request itself is not at fault.
    """

    outage = False
