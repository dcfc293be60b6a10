# tenner page: the agent's own web server: the page and its API, for a browser in the network.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The paths, the JSON and the errors are those of `tenner web` on a computer (tenner_host/web), and
one document describes both, tenner_host/web/openapi.json.
"""
