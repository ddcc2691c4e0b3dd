"""Enrolment of a table's own tiles: guided capture, inventory, prototypes, and which set is in play."""
