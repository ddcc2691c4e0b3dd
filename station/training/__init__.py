"""Practising with a simulated machine: one page on loopback, for the staff of a hall."""
