"""`enroll`: learn the tiles of a table, count a set, tell two sets apart."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine import rulesets
from station.cli import enroll_capture, enroll_count
from station.cli.failures import plain_failures
from station.cli.taught import taught_zone
from station.errors import ConfigError
from vision.enroll.plan import SHOTS, ordered
from vision.recognizer import Recognizer

EXAMPLES = """\
examples:
  quezhuo enroll --camera 0 --calibration calibration.json --ruleset zhenjiang --name green --out green.json
  quezhuo enroll --photos rows --ruleset zhenjiang --out green.json
  quezhuo enroll --photos rows --plan plan.json --ruleset zhenjiang --out green.json
  quezhuo enroll --inventory --ruleset zhenjiang block1.jpg block2.jpg
  quezhuo enroll --which green.json blue.json hand.jpg
  quezhuo enroll --renew green.json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = f"{parser.epilog}\n\n{EXAMPLES}"
    parser.add_argument("pictures", nargs="*", metavar="PHOTO", help="with --inventory or --which")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--camera", metavar="CAMERA", help="device number, folder:DIR or render:SCENE.json")
    what.add_argument("--photos", metavar="FOLDER", help="photographs of the rows instead of a camera")
    what.add_argument("--inventory", action="store_true", help="count a whole set, laid out in blocks")
    what.add_argument(
        "--which", nargs=2, metavar=("A.json", "B.json"), help="tell which of two sets photographs show"
    )
    what.add_argument("--renew", metavar="FILE", help="learn a tile set file anew for this recognizer")
    parser.add_argument("--out", metavar="FILE", help="the tile set file to write")
    parser.add_argument("--name", help="name of the set, such as green (default: the file's)")
    parser.add_argument("--table", default="", help="name of the table, kept in the file")
    parser.add_argument("--ruleset", metavar="ID", help="kinds and counts of this rule set's tile set")
    parser.add_argument("--kinds", metavar="KINDS", help="kinds instead of a rule set: '1m 2m … 7z'")
    parser.add_argument("--shots", type=int, default=SHOTS, metavar="N", help="pictures of each row")
    parser.add_argument("--plan", metavar="FILE", help="JSON: photo -> its rows, ['1m 2m 3m', …]")
    parser.add_argument("--regions", metavar="FILE", help="JSON: photo -> region, as for read")
    parser.add_argument("--calibration", metavar="FILE", help="calibration file of the table")
    parser.add_argument(
        "--zone", metavar="ZONE", help="with --calibration: zone the rows lie in, 0 to 3 (default: 0)"
    )
    parser.add_argument("--tileset", metavar="FILE", help="with --inventory: the set as enrolled")
    parser.add_argument(
        "--confirm", action="store_true", help="the rows were checked: take tiles that look like others"
    )
    parser.add_argument("--fresh", action="store_true", help="begin anew instead of going on")
    parser.add_argument("--model", metavar="FILE", help="another recognizer's card (JSON)")


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked; status 1 when kinds are missing, a set is not whole, or the answer is unsure."""
    if not 1 <= arguments.shots <= 9:
        raise ConfigError("--shots must be from 1 to 9.", fix="Two are usual.")
    capturing = arguments.camera is not None or arguments.photos or arguments.renew
    if not (capturing or arguments.inventory or arguments.which):
        raise ConfigError(
            "Nothing to do.", fix="Name --camera, --photos, --inventory, --which or --renew.", code="usage"
        )
    if capturing and not arguments.out and not arguments.renew:
        raise ConfigError("The tile set needs a file.", fix="Add --out FILE.")
    if capturing and arguments.out and not Path(arguments.out).absolute().parent.is_dir():
        raise ConfigError(
            f"There is no folder {Path(arguments.out).parent}.", fix="Make it, or give another --out FILE."
        )
    if capturing and arguments.pictures:
        raise ConfigError("Photographs of rows lie in a folder.", fix="Use --photos FOLDER.")
    if (arguments.inventory or arguments.which) and not arguments.pictures:
        raise ConfigError("There is no photograph to look at.", fix="Name one or more after the options.")
    with plain_failures():
        zone = taught_zone(arguments)
        counts = {} if arguments.which or arguments.renew else _counts(arguments)
        model = Path(arguments.model) if arguments.model else None
        recognizer = Recognizer.load(model, threads=2)
        if arguments.which:
            return enroll_count.which(arguments, recognizer, zone)
        if arguments.inventory:
            return enroll_count.inventory(arguments, recognizer, counts, zone)
        if arguments.renew:
            return enroll_capture.renew(arguments, recognizer)
        return enroll_capture.capture(arguments, recognizer, tuple(counts), zone)


def _counts(arguments: argparse.Namespace) -> dict[str, int]:
    """Copies of every kind of the tile set, in the order of the tile ids."""
    if arguments.kinds:
        kinds = ordered(arguments.kinds.split())
        return {kind: 1 if kind.endswith("f") else 4 for kind in kinds}
    if arguments.ruleset is None:
        raise ConfigError("Which kinds does the set have?", fix="Add --ruleset ID, or --kinds '1m 2m …'.")
    tiles = rulesets.load(arguments.ruleset).tile_set
    return {kind.id: tiles.counts[kind] for kind in tiles.kinds}
