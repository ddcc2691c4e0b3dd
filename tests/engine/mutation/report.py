"""What `make mutation` says: the score of every module, the mutants left alive, whether they are too many.

mutmut writes one wrong copy of a function after the other and runs the tests that call it. A copy which no
test minds stays alive: it is equivalent, or a test is missing. One that no test calls counts as alive too.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.stats import status_by_exit_code

FEWEST = 300
"""Mutants."""

WANTED, WANTED_OF_EACH = 90.0, 85.0
"""Per cent that have to be killed, of all and of each module."""

KILLED = {"killed", "timeout"}


class Module(NamedTuple):
    """How the mutants of a module fared: the number of each end, and who is left alive."""

    name: str
    ends: Counter[str]
    alive: list[str]

    @property
    def killed(self) -> int:
        return sum(self.ends[end] for end in KILLED)

    @property
    def percent(self) -> float:
        return 100 * self.killed / self.ends.total()


def modules(folder: Path) -> list[Module]:
    """Read what mutmut has written below its folder."""
    found = []
    for file in sorted(folder.rglob("*.py.meta")):
        ends = json.loads(file.read_text(encoding="utf-8"))["exit_code_by_key"]
        if ends:
            told = {mutant: status_by_exit_code[code] for mutant, code in ends.items()}
            alive = sorted(mutant for mutant, end in told.items() if end not in KILLED)
            name = str(file.relative_to(folder)).removesuffix(".meta")
            found.append(Module(name, Counter(told.values()), alive))
    return found


def complaints(found: list[Module]) -> list[str]:
    """What is not as it has to be, one sentence each."""
    total = sum(module.ends.total() for module in found)
    said = []
    if total < FEWEST:
        said.append(f"{total} mutants are too few; {FEWEST} are wanted.")
    share = 100 * sum(module.killed for module in found) / max(total, 1)
    if share < WANTED:
        said.append(f"{share:.1f} % killed; {WANTED:g} % are wanted.")
    weak = (module for module in found if module.percent < WANTED_OF_EACH)
    said += [
        f"{module.name}: {module.percent:.1f} % killed; {WANTED_OF_EACH:g} % are wanted." for module in weak
    ]
    return said


def table(found: list[Module]) -> list[str]:
    """One row per module and one for all."""
    rows = [(module.name, module.ends.total(), module.killed) for module in found]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    width = max(len(name) for name, *_ in rows)
    head = f"{'module':<{width}}  mutants  killed  alive       %"
    return [head] + [
        f"{name:<{width}}  {total:7}  {killed:6}  {total - killed:5}  {100 * killed / max(total, 1):6.1f}"
        for name, total, killed in rows
    ]


def change(mutant: str, path: Path) -> str:
    """The lines that the mutant changes, without their surroundings."""
    lines = get_diff_for_mutant(mutant, path=path).splitlines()
    return "\n".join(line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---"))


def main() -> int:
    """Print the report on the folder of a run; 1 where something is not as it has to be."""
    found = modules(Path("mutants"))
    print(*table(found), sep="\n")
    for module in found:
        for mutant in module.alive:
            print(f"\nalive: {mutant}", change(mutant, Path(module.name)), sep="\n")
    said = complaints(found)
    print("", *said, sep="\n")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
