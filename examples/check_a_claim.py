"""Check one claim and say who pays what.

python examples/check_a_claim.py
"""

from engine import rulesets
from engine.notation import parse_claim

LINE = "123m456p789p11z3s6s +4s flip=5s how=self seat=0 chips=50,50,50,50"


def main() -> None:
    """Parse a line, judge it, settle it."""
    rules = rulesets.load("zhenjiang", {"payment": "pei"})
    claim = parse_claim(LINE, rules.id)
    verdict = rules.check(claim)
    print(f"{verdict.outcome.value}: {verdict.cls} ({verdict.document} {verdict.section})")
    assert verdict.decomposition is not None
    for group in verdict.decomposition.groups:
        tiles = [
            t.actual.id if t.actual == t.stands_for else f"{t.actual.id} as {t.stands_for.id}"
            for t in group.tiles
        ]
        print(f"  {group.kind.value}: {', '.join(tiles)}")
    print("pays per seat:", rules.settle(verdict, claim).pay)


if __name__ == "__main__":
    main()
