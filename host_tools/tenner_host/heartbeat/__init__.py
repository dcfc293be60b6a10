"""HEARTBEAT.md on this computer: checked and replayed by the firmware's own code, without a board
or a model."""
