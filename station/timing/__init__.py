"""Time that a hall can rely on: the countdown, the tables' view of it, and what survives a restart. Pure.

Durations come from clocks that never step (`station.clock.Clock.monotonic`); the wall clock is read once,
after a restart of the whole machine, and its word then waits for the head referee.
"""
