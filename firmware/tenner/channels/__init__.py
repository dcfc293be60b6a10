# tenner channels: people in, answers out.
# MIT license; Copyright (c) 2026 the tenner authors
