# tenner main.py: starts the agent; Ctrl-C leads to the REPL.
# MIT license; Copyright (c) 2026 the tenner authors

import os

try:
    from tenner.app import main

    main(os.getcwd().rstrip("/"))
except KeyboardInterrupt:
    print("agent stopped; Ctrl-D starts it again")
