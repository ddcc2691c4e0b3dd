"""The table process: session fold, decisions, local HTTP surface, machine and camera at the edges."""
