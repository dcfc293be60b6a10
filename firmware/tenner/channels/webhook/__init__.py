# tenner channels.webhook: an address that gets alerts as JSON.
# MIT license; Copyright (c) 2026 the tenner authors
