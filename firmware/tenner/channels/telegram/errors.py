# tenner channels.telegram.errors: how a call of the Bot API fails.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

#: What `api.call` raises when there is no answer.
FAILURES = (OSError, EOFError, ValueError, asyncio.TimeoutError)
