# tenner update: replaces the agent's code by a signed release, over the network.
# MIT license; Copyright (c) 2026 the tenner authors
