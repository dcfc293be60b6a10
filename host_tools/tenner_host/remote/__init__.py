"""Boards behind an MQTT broker: their records, the seal of requests, and their way."""
