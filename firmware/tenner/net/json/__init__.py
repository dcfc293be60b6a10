# tenner net.json: JSON that streams.
# MIT license; Copyright (c) 2026 the tenner authors
