# tenner runtime: starts the agent, and keeps its services running.
# MIT license; Copyright (c) 2026 the tenner authors
