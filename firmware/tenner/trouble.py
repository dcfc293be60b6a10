# tenner trouble: what is said of a failure; loaded when there is one.
# MIT license; Copyright (c) 2026 the tenner authors

import io

from tenner.log import log, redact
from tenner.port.compat import print_exception


def tell(what, error):
    """Log a failure and its traceback, or where memory was short; return it in a clause, without secrets."""
    clause = redact("%s: %s" % (type(error).__name__, error))
    log("app", "%s: %s" % (what, clause))
    out = io.StringIO()
    print_exception(error, out)
    lines = [line for line in out.getvalue().split("\n") if line.strip()]
    if isinstance(error, MemoryError):
        # A heap that is full is nobody's bug, and how it came to that place says nothing.
        lines = [line for line in lines if line.startswith("  File")][-1:]
    for line in lines:
        log("app", line)
    return clause
