"""Camera, table geometry and the tile recognizer."""
