"""Tools for those who work on the screens; nothing at run time needs them."""
