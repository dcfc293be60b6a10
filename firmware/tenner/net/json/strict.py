# tenner net.json.strict: the former place of store.json_strict.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.store.json_strict import loads  # noqa: F401 -- until its users name the new place
