"""The serial bridge between a table computer and the shuffle/deal machine."""
