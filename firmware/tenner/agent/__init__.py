# tenner agent: lane, turn, context, session, spawn.
# MIT license; Copyright (c) 2026 the tenner authors
