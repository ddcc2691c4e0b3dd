"""A stand-in for the camera: renders tables with tiles of our own design."""

from vision.render.renderer import Look, render, tile_quads
from vision.render.scene import LaidHand, Scene
from vision.render.upset import Arm, Bump, Glare, Stray, Upset

__all__ = ["Arm", "Bump", "Glare", "LaidHand", "Look", "Scene", "Stray", "Upset", "render", "tile_quads"]
