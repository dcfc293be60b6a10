# tenner log_exception: logs an unexpected failure.
# MIT license; Copyright (c) 2026 the tenner authors

import gc
import io

from tenner.log import log, redact
from tenner.port.compat import print_exception


def log_exception(what: str, error: BaseException) -> str:
    """
    Log a failure and its traceback, or the place where memory was short; return it as a clause,
    without secrets. Never raise: if memory does not suffice even for that, print one line.
    """
    gc.collect()
    try:
        clause = redact(("%s: %s" % (type(error).__name__, error)).rstrip(": "))
        log("app", "%s: %s" % (what, clause))
        out = io.StringIO()
        print_exception(error, out)
        lines = [line for line in out.getvalue().split("\n") if line.strip()]
        if isinstance(error, MemoryError):
            # A full heap is no bug, and the other calls do not explain it.
            lines = [line for line in lines if line.startswith("  File")][-1:]
        for line in lines:
            log("app", line)
        return clause
    except MemoryError:
        print("app: out of memory")
        return "MemoryError"
