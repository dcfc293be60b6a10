"""Whole computers in software, made of Debian's packages without installing any: for tests and figures of Linux boards."""
