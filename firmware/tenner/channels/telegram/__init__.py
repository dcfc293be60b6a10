# tenner channels.telegram: the Bot API.
# MIT license; Copyright (c) 2026 the tenner authors
