"""Emulated computers from Debian's packages, without installing any: for tests and figures of
Linux boards."""
