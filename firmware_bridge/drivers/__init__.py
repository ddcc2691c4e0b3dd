"""Drivers for machines that do not speak our own protocol. See docs/drivers.md for what each can do."""
