# tenner channels: people in, answers out.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A channel is a folder here; no other file names it, nor the page, which is a channel in a folder of
its own. `settings.tsv` has its settings, in the form of store/config.tsv; the first is its switch:
the channel is on when that is set. `part.py` has

    make(app)            returns the channel, an object as channels.delivery says
    services(app, made)  yields (name, coroutine function) of its services; optional
    IN_SAFE_MODE         is there if safe mode has the channel, too; optional

A channel without services only sends: it is made for each delivery of the outbox, and gets a copy
of each alert if it has an `alert_chat`. webhook is the smallest; `make new-channel` writes one.
"""
