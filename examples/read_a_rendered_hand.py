"""Render a table, look at one place's zone, and read the hand that lies there.

python examples/read_a_rendered_hand.py
"""

from vision.geometry import default_calibration
from vision.reading_service import hand_line, read_zone
from vision.recognizer import Recognizer
from vision.render import LaidHand, Scene, render


def main() -> None:
    """Lay a hand with a pung and a concealed kong in front of place 2."""
    hand = LaidHand(
        melds=(("5p", "5p", "5p"), ("back", "3s", "3s", "back")),
        concealed=("1m", "2m", "3m", "7z"),
        win="7z",
    )
    frame = render(Scene(indicator="1p", hands={2: hand}, light_seed=4))
    reading = read_zone(Recognizer.load(), frame, default_calibration(), 2, expect=12)
    for tile in reading.tiles:
        print(f"{tile.kind:>5}  {tile.score:.2f}  {[round(v) for v in tile.box]}")
    print(hand_line(reading))


if __name__ == "__main__":
    main()
