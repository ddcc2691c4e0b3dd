"""Photographs that events name: brought to the central station beside the events, and removed by rule."""
