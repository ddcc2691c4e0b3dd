"""The one definition of the protocol, `protocol.toml`, and what writes code and tables from it.

`python -m firmware_bridge.protocol` writes; nothing of this is used while a table runs.
"""
