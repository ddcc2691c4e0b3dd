"""Arguments of ``python -m vision.training`` and the steps behind them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vision.training.measure import cli as measured

if TYPE_CHECKING:
    from vision.training.runs import Run

RUNS = Path(".train")
STYLES = 96


def _split(args: argparse.Namespace) -> None:
    from vision.training.split import make_split

    args.out.write_text(make_split())


def _run(args: argparse.Namespace) -> Run:
    from vision.training.runs import Run

    return Run(args.out, args.steps, args.seed, args.styles, args.threads, args.rate, args.start_from,
               tuple(args.without))  # fmt: skip


def _detector(args: argparse.Namespace) -> None:
    from vision.training.runs import train_detector

    train_detector(_run(args))


def _classifier(args: argparse.Namespace) -> None:
    from vision.training.runs import train_classifier

    train_classifier(_run(args), tuple(args.shares))


def _export(args: argparse.Namespace) -> None:
    from vision.training.export import export

    export(args.detector, args.classifier, args.out, args.seed, args.rounds, args.without)


def _evaluate(args: argparse.Namespace) -> None:
    from vision.training import evaluate

    evaluate.main(args.models, args.float32, args.disagreements)
    if args.rendered:
        from vision.training.rendered import measure

        print(measure(args.models / "recognizer.json", args.rendered))  # noqa: T201


def _finetune(args: argparse.Namespace) -> None:
    from vision.training.finetune import finetune, words

    report = finetune(args.tileset, args.checkpoint, args.card, args.out, args.seed, args.threads)
    print(words(report, args.out))  # noqa: T201


def _enrolment(args: argparse.Namespace) -> None:
    from vision.training.enrolment import measure

    print(measure(args.models / "recognizer.json", args.repeats))  # noqa: T201


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m vision.training", description=__doc__)
    steps = parser.add_subparsers(required=True)

    def add(name: str, action: Callable[[argparse.Namespace], None], text: str) -> argparse.ArgumentParser:
        sub = steps.add_parser(name, help=text, description=text)
        sub.set_defaults(action=action)
        return sub

    split = add("split", _split, "write the hold-out list")
    split.add_argument("--out", type=Path, default=Path("tests/real/holdout.txt"))
    for name, action, count in (("detector", _detector, 3600), ("classifier", _classifier, 4700)):
        sub = add(name, action, f"train the {name}; an interrupted run goes on where its checkpoint lies")
        sub.add_argument("--out", type=Path, default=RUNS / name)
        sub.add_argument("--steps", type=int, default=count)
        sub.add_argument("--seed", type=int, default=7)
        sub.add_argument("--styles", type=int, default=STYLES, help="rendered tile sets")
        sub.add_argument("--threads", type=int, default=1)
        sub.add_argument("--start-from", type=Path, help="checkpoint whose averaged weights begin this run")
        sub.add_argument("--rate", type=float, default=2e-3, help="peak of the learning rate")
        sub.add_argument("--without", nargs="*", default=[], metavar="SOURCE",
                         help="leave these sources out: how well is a tile set never seen read?")  # fmt: skip
        if name == "classifier":
            sub.add_argument("--shares", type=float, nargs=3, default=(0.5, 0.15, 0.35),
                             metavar=("REAL", "RENDERED", "COMPOSED"))  # fmt: skip
    export = add("export", _export, "write ONNX files (int8) and the model card")
    export.add_argument("--detector", type=Path, default=RUNS / "detector" / "checkpoint.pt")
    export.add_argument("--classifier", type=Path, default=RUNS / "classifier" / "checkpoint.pt")
    export.add_argument("--out", type=Path, default=Path("vision/models"))
    export.add_argument("--seed", type=int, default=7)
    export.add_argument("--without", nargs="*", default=[], metavar="SOURCE",
                        help="sources that the checkpoints never saw")  # fmt: skip
    export.add_argument("--rounds", default="one round each", help="how the checkpoints came to be")
    evaluate = add("evaluate", _evaluate, "read the held-out photographs with shipped or float models")
    evaluate.add_argument("--models", type=Path, default=Path("vision/models"))
    evaluate.add_argument("--float32", type=Path, help="folder with the float models to evaluate instead")
    evaluate.add_argument(
        "--disagreements", action="store_true", help="list training labels the network doubts"
    )
    evaluate.add_argument("--rendered", type=int, default=0, help="also read this many rendered tables")
    tune = add("finetune", _finetune, "fit the classifier to an enrolled tile set, where that helps")
    tune.add_argument("--tileset", type=Path, required=True, help="file written by quezhuo enroll")
    tune.add_argument("--checkpoint", type=Path, default=RUNS / "classifier" / "checkpoint.pt")
    tune.add_argument("--card", type=Path, default=Path("vision/models/recognizer.json"))
    tune.add_argument("--out", type=Path, required=True)
    tune.add_argument("--seed", type=int, default=7)
    tune.add_argument("--threads", type=int, default=1)
    enrolled = add("enrolment", _enrolment, "measure enrolment on photographs of real sets")
    enrolled.add_argument("--models", type=Path, default=Path("vision/models"))
    enrolled.add_argument("--repeats", type=int, default=5)
    measured.add_arguments(add("measure", measured.run, "measure the whole reading where truth is known"))
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one step and return the exit status."""
    args = _parser().parse_args(argv)
    args.action(args)
    return 0
