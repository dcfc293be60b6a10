#!/bin/sh
# tenner-agent: starts the agent whose folder this is, wherever that lies; --help shows its options.
# MIT license; Copyright (c) 2026 the tenner authors

here=$(dirname "$(readlink -f "$0")")
if [ -x "$here/kit/ld.so" ]; then
    # The kit's own loader and libraries: nothing of the system's C library is used.
    export MICROPYPATH="$here/lib:.frozen"
    exec "$here/kit/ld.so" --library-path "$here/kit" "$here/kit/micropython" \
        -X heapsize="${TENNER_HEAP:-2M}" -m tenner "$@"
fi
export PYTHONPATH="$here/lib"
exec "${TENNER_PYTHON:-python3}" -u -m tenner "$@"
