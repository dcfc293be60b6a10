# tenner net.web: pages of the web.
# MIT license; Copyright (c) 2026 the tenner authors
