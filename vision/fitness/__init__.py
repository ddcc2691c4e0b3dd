"""Is a frame fit to be read? Pure measures of one zone, seen straight on: numpy and OpenCV, no network.

Codes, never sentences; limits are data (`Limits`). What each code asks a person to do is said by the screens.
"""

from vision.fitness.assess import Drifted, assess, assess_tiles, drifted
from vision.fitness.backdrop import Backdrop
from vision.fitness.hands import Cloth
from vision.fitness.motion import StillWatch
from vision.fitness.problems import CODES, FIT, LIMITS, Fitness, Limits, Problem

__all__ = [
    "CODES",
    "FIT",
    "LIMITS",
    "Backdrop",
    "Cloth",
    "Drifted",
    "Fitness",
    "Limits",
    "Problem",
    "StillWatch",
    "assess",
    "assess_tiles",
    "drifted",
]
