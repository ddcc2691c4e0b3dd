"""One file of data per rule set (`<id>.toml`), with its hooks beside it (`<id>.py`)."""
