# tenner llm: two wire formats for talking to models, and the fallback chain over them.
# MIT license; Copyright (c) 2026 the tenner authors
