"""The simulator: a virtual board, stand-ins for the services that an agent talks to, and the demo.

It imports tenner_host, which finds it by name only where a command needs it.
"""
