"""The modules here are written by `python -m firmware_bridge.protocol` from protocol/protocol.toml.

Import it through `ops`, `interlock` and `messages`, which add what is done with it.
"""
