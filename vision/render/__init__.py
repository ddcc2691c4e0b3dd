"""A stand-in for the camera: renders tables with tiles of our own design."""

from vision.render.renderer import render
from vision.render.scene import LaidHand, Scene

__all__ = ["LaidHand", "Scene", "render"]
