"""The scripted players under a referee of flesh and blood: they take a decision and play on."""

import asyncio
import json

import pytest

from engine import rulesets
from station.demo.script import Script
from vision.render import Scene


class Table:
    """Answers as a table would whose referee turns every claim down, and rules the draw when called."""

    def __init__(self, barring):
        self.barring = barring
        self.claims = []
        self.phase, self.rev, self.hands = "play", 1, 0
        self.barred = set()
        self.calls = 0

    async def state(self):
        accounts = dict.fromkeys(("outside", "deferred", "loans", "carried"), 0)
        places = [
            {"place": n, "side": n, "chips": 50, "barred": n in self.barred, "xianggong": False, **accounts}
            for n in range(4)
        ]
        zero = [0, 0, 0, 0]
        last = {"hand_no": 1, "outcome": "draw", "winner": None, "pay": zero, "outside": zero, "cls": None}
        return {
            "rev": self.rev,
            "log_pos": self.rev,
            "phase": self.phase,
            "hand_no": 2,
            "hand_count": self.hands,
            "dice": [3, 4],
            "dealer": 0,
            "streak": 0,
            "circle": 1,
            "bank": 0,
            "forfeited": 0,
            "places": places,
            "indicator": {"tile": self.tile(), "doubt": False},
            "machine": None,
            "last": last if self.hands else None,
            "claim": None,
        }

    def tile(self):
        return self.script._hand.indicator.id if self.script._hand else "1m"

    async def post(self, action, body, rev):
        self.rev += 1
        if action == "claim":
            assert body["place"] not in self.barred
            self.claims.append(json.dumps(body, sort_keys=True))
            assert len(self.claims) < 100, "the players claim the same hand for ever"
            if self.barring:
                self.barred.add(body["place"])
        elif action == "call":
            self.calls += 1
            self.phase, self.hands = "ruled", 1
        elif action == "close":
            self.phase = "closed"
        return True


class Flipping(Table):
    """A table whose machine deals, flips a tile, and is told that the hand is over."""

    steps = (([], False), (["FLIP_INDICATOR"], False), ([], True))

    def __init__(self, scene):
        super().__init__(barring=False)
        self.phase, self.scene, self.step = "indicator", scene, -1
        self.shown = []

    async def state(self):
        if self.step >= 0:
            self.shown.append(json.loads(self.scene.read_text())["indicator"])
        self.step += 1
        if self.step == len(self.steps):
            self.phase, self.hands = "closed", 1
        moving, up = self.steps[min(self.step, len(self.steps) - 1)]
        machine = {"locked": True, "moving": moving, "indicator_up": up, "walls": [17] * 4}
        return {**await super().state(), "machine": machine}


class Dazzled(Table):
    """A table whose camera never calls the claimed zone fit."""

    def __init__(self):
        super().__init__(barring=False)
        self.anyway_at = []

    async def state(self):
        waiting = self.phase == "claim"
        claim = {"place": 0, "claim_no": 1, "tiles": [], "shown": []} if waiting else None
        guidance = {"place": 0, "problems": [], "anyway": False} if waiting else None
        return {**await super().state(), "claim": claim, "guidance": guidance}

    async def post(self, action, body, rev):
        if action == "claim":
            self.phase = "claim"
        elif action == "anyway":
            self.anyway_at.append(self.now)
            self.phase, self.hands = "ruled", 1
        return await super().post(action, body, rev)

    now = 0.0

    def clock(self):
        self.now += 5.0
        return self.now


def test_the_scripted_referee_has_a_zone_read_as_it_is_after_twenty_seconds(tmp_path):
    table = Dazzled()
    script = Script(
        table,
        rulesets.load("zhenjiang"),
        tmp_path / "scene.json",
        table=0,
        hands=1,
        seed=1,
        mend=False,
        now=table.clock,
    )
    table.script = script
    asyncio.run(script.play())
    assert len(table.claims) == 1
    assert table.anyway_at == [25.0]


def test_what_was_rendered_at_a_claim_is_kept_to_judge_its_reading_by(tmp_path):
    table = Dazzled()
    scene = tmp_path / "scene.json"
    rules = rulesets.load("zhenjiang")
    script = Script(table, rules, scene, table=0, hands=1, seed=1, mend=False, now=table.clock)
    table.script = script
    asyncio.run(script.play())
    hands = Scene.load(scene).hands
    assert {place: truth.total() for (_, _, place), truth in script.truths.items()} == {
        None if place == 0 else place: len(hands[place].kinds) if place in hands else 0 for place in range(4)
    }


def test_the_tile_shows_its_face_as_soon_as_the_machine_flips_it(tmp_path):
    file = tmp_path / "scene.json"
    table = Flipping(file)
    script = Script(table, rulesets.load("zhenjiang"), file, table=0, hands=1, seed=1, mend=False)
    table.script = script
    asyncio.run(script.play())
    covered, flipping, up = table.shown
    assert covered == "back"
    assert flipping == up != "back"


@pytest.mark.parametrize("barring", [False, True], ids=["rejected", "false wins"])
def test_players_go_on_after_a_claim_was_turned_down(tmp_path, barring):
    table, called = Table(barring), []
    script = Script(
        table,
        rulesets.load("zhenjiang"),
        tmp_path / "scene.json",
        table=0,
        hands=1,
        seed=1,
        mend=False,
        referee=False,
        on_call=called.append,
    )
    table.script = script
    asyncio.run(script.play())
    assert table.claims
    assert called == [2]
    assert table.calls == 1
    if barring:
        assert len(table.claims) <= 4
