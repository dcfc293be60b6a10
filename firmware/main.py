# tenner main.py: starts the agent; Ctrl-C leads to the REPL.
# MIT license; Copyright (c) 2026 the tenner authors

try:
    from tenner.app import main

    main()
except KeyboardInterrupt:
    print("agent stopped; main.py starts it again on reset (Ctrl-D)")
