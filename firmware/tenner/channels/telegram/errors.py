# tenner channels.telegram.errors: the errors of a call to the Bot API.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

#: `api.call` raises one of these when there is no answer.
FAILURES = (OSError, EOFError, ValueError, asyncio.TimeoutError)
