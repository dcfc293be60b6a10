# tenner net: HTTP, TLS, stream parsing, the clock and Wi-Fi.
# MIT license; Copyright (c) 2026 the tenner authors
