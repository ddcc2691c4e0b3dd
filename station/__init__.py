"""Table process, central process, event log, link, screens and command line."""
