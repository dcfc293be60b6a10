"""The simulator: a virtual board, stand-ins for the services that an agent talks to, and the demo.

It imports tenner_host, which finds it by name only where a command needs it.
"""

#: Seconds that a board or a service is waited for, at most: plenty on a busy machine, because only
#: a failure waits so long.
LIMIT_S = 300.0
