"""What runs beside the game: process logs, metrics, health, backup and restore."""
