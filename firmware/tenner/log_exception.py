# tenner log_exception: logs a failure that nobody expected.
# MIT license; Copyright (c) 2026 the tenner authors

import gc
import io

from tenner.log import log, redact
from tenner.port.compat import print_exception


def log_exception(what, error):
    """
    Log a failure and its traceback, or where memory was short; return it in a clause, without secrets. Never raises: where even
    that does not fit, one line is printed.
    """
    gc.collect()
    try:
        clause = redact("%s: %s" % (type(error).__name__, error))
        log("app", "%s: %s" % (what, clause))
        out = io.StringIO()
        print_exception(error, out)
        lines = [line for line in out.getvalue().split("\n") if line.strip()]
        if isinstance(error, MemoryError):
            # A heap that is full is nobody's bug, and the calls that led there say nothing.
            lines = [line for line in lines if line.startswith("  File")][-1:]
        for line in lines:
            log("app", line)
        return clause
    except MemoryError:
        print("app: out of memory")
        return "MemoryError"
