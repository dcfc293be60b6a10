# tenner trouble: what is said of a failure; loaded when there is one.
# MIT license; Copyright (c) 2026 the tenner authors

import io

from tenner.log import log, redact
from tenner.port.compat import print_exception


def tell(what, error):
    """Log a failure and its traceback; return it in a clause, without secrets."""
    clause = redact("%s: %s" % (type(error).__name__, error))
    log("app", "%s: %s" % (what, clause))
    out = io.StringIO()
    print_exception(error, out)
    for line in out.getvalue().split("\n"):
        if line.strip():
            log("app", line)
    return clause
