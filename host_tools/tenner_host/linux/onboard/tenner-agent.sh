#!/bin/sh
# tenner-agent: starts the agent in its own folder, anywhere; --help shows its options.
# MIT license; Copyright (c) 2026 the tenner authors

# usage: tenner-agent [--prepare | --least-power] [OPTION...]; `ctl` uses the first two.
here=$(dirname "$(readlink -f "$0")")
module=tenner
if [ "${1:-}" = --least-power ]; then
    shift
    # systemd may have dropped the rights already.
    if ! grep -q '^NoNewPrivs:[[:space:]]*1' /proc/self/status 2>/dev/null; then
        module=tenner.port.linux.least_power
        set -- "$here/tenner-agent" "$@"
    fi
fi
if [ -x "$here/kit/ld.so" ]; then
    # The kit's own loader and libraries: nothing of the system's C library is used.
    export MICROPYPATH="$here/lib:.frozen"
    [ "${1:-}" != --prepare ] || exit 0
    exec "$here/kit/ld.so" --library-path "$here/kit" "$here/kit/micropython" \
        -X heapsize="${TENNER_HEAP:-2M}" -m $module "$@"
fi
export PYTHONPATH="$here/lib"
python=${TENNER_PYTHON:-python3}
# Less memory: one pool for all threads, no columns in tracebacks and, as in MicroPython's releases, no docstrings. Compiling
# removes these, in a separate process, because one that compiles does not return all of its memory.
export MALLOC_ARENA_MAX=1 PYTHONNODEBUGRANGES=1
cache=$here/__pycache__
if [ ! -d "$cache" ] && ! mkdir "$cache" 2>/dev/null; then
    [ "${1:-}" != --prepare ] || exit 0
    exec "$python" -u -m $module "$@"
fi
export PYTHONPYCACHEPREFIX="$cache"
if [ ! -e "$cache/done" ]; then
    "$python" -OO -m compileall -q "$here/lib" >/dev/null
    "$python" -OO -c 'import asyncio, concurrent.futures.thread, ctypes, json, runpy, ssl' && : >"$cache/done"
fi
[ "${1:-}" != --prepare ] || exit 0
exec "$python" -OO -u -m $module "$@"
