"""Screens: pages, fragments, translations and static files. Pure text out of plain state objects."""
