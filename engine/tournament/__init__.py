"""Arithmetic of tournaments: scores, ranking and pairing. Pure values; chance comes in as drawn lots."""
