"""Arguments of ``python -m vision.training measure`` and what each measurement prints and writes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2

WHATS = ("sources", "silent", "indicator", "robustness", "reliability", "sheets")
WAY = "table"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("what", choices=WHATS)
    parser.add_argument("--models", type=Path, default=Path("vision/models"), help="folder of model files")
    parser.add_argument("--out", type=Path, required=True, help="folder for results; a broken run goes on")
    parser.add_argument("--hands", type=int, help="hands (silent: accepted ones; robustness: per cell)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--only", nargs="*", default=[], metavar="SOURCE", help="silent: hands of these alone"
    )
    parser.add_argument("--unseen", nargs="*", default=[], metavar="SOURCE",
                        help="sources never trained on, beside those the card names")  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Measure, write ``WHAT.md`` into the folder, and print it."""
    cv2.setNumThreads(args.threads)
    steps: dict[str, Callable[[argparse.Namespace], str]] = {
        "sources": _sources, "silent": _silent, "indicator": _indicator,
        "robustness": _robustness, "reliability": _reliability, "sheets": _sheets,
    }  # fmt: skip
    args.out.mkdir(parents=True, exist_ok=True)
    text = steps[args.what](args)
    (args.out / f"{args.what}.md").write_text(text + "\n", "utf-8")
    print(text)  # noqa: T201


def _unseen(args: argparse.Namespace) -> frozenset[str]:
    return frozenset(args.unseen)


def _sources(args: argparse.Namespace) -> str:
    from vision.training.measure import photographs

    found = photographs.measure(args.models, args.out, threads=args.threads, unseen=_unseen(args))
    return photographs.report(found)


def _silent(args: argparse.Namespace) -> str:
    from vision.training.measure import silent

    found = silent.measure(
        args.models, args.out, accepted=args.hands or 3000, seed=args.seed, threads=args.threads,
        unseen=_unseen(args), only=frozenset(args.only),
    )  # fmt: skip
    return silent.report(found, _records(args.out / "silent.jsonl")[0]["never seen"])


def _indicator(args: argparse.Namespace) -> str:
    from vision.training.measure import indicator

    found = indicator.measure(
        args.models,
        args.out,
        scenes=args.hands or 500,
        seed=args.seed,
        threads=args.threads,
        unseen=_unseen(args),
    )
    return indicator.report(found)


def _robustness(args: argparse.Namespace) -> str:
    from vision.training.measure import robustness

    found = robustness.measure(
        args.models,
        args.out,
        hands=args.hands or 600,
        seed=args.seed,
        threads=args.threads,
        unseen=_unseen(args),
    )
    return robustness.report(found)


def _reliability(args: argparse.Namespace) -> str:
    from vision.training.measure import diagram

    by_source = diagram.scores(_records(args.out / "silent.jsonl")[1:], WAY)
    diagram.draw(by_source, args.out / "reliability.png")
    return diagram.report(by_source)


def _sheets(args: argparse.Namespace) -> str:
    from vision.training.measure import sheets
    from vision.training.measure.hands import ART, OWN, Table, fingerprint
    from vision.training.measure.unseen import find_unseen

    pages: list[Path] = []
    if (args.out / "silent.jsonl").exists():
        first, *records = _records(args.out / "silent.jsonl")
        rendered = [name for name in first["sources"] if name in (ART, OWN)]
        only = frozenset(name.split("/")[0] for name in first["sources"]) | frozenset(rendered)
        table = Table.of(find_unseen(frozenset(first["never seen"])), first["seed"], rendered, only)
        if fingerprint(table.pools) != first["faces"]:
            raise SystemExit("The faces are others than the measured ones: run `measure silent` again.")
        pages += sheets.draw(sheets.hand_faults(records, table, WAY), args.out, "hands")
    if (args.out / "sources.jsonl").exists():
        pages += sheets.draw(
            sheets.photo_faults(_records(args.out / "sources.jsonl")[1:]), args.out, "sources"
        )
    return (
        "\n".join(str(page) for page in pages) or "No errors to draw: run silent or sources with this --out."
    )


def _records(file: Path) -> list[dict[str, Any]]:
    """Lines of a journal, its header first."""
    if not file.exists():
        raise SystemExit(f"{file} is not there: run `measure {file.stem}` with this --out first.")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.endswith("}")]
