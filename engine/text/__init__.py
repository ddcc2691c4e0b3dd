"""Texts of the notation, read and written; use them from `engine.notation`."""
