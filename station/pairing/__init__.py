"""Bringing a table and the central station together: each learns the other's public key.

`protocol` and `window` decide (pure), `listen` and `call` are the sockets, `files` writes what was agreed.
"""
