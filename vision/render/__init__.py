"""A stand-in for the camera: renders tables with tiles of our own design."""

from vision.render.renderer import Look, render, tile_quads
from vision.render.scene import LaidHand, Scene

__all__ = ["LaidHand", "Look", "Scene", "render", "tile_quads"]
