"""The walls of the simulated table: where tiles are taken, and what stands."""

from engine import rulesets
from engine.wall import ring_index
from station.demo.wall import Wall, shuffled

RULES = rulesets.load("xiamen")
PLAN = RULES.deal_plan((3, 4, 5, 2))


def _wall(dead=0):
    shuffle = shuffled(RULES.tile_set, "seed")
    wall = Wall(shuffle, PLAN, dead)
    return wall, lambda slot: shuffle[2 * ring_index(4, 18, slot.wall, slot.stack) + (not slot.upper)]


def test_replacements_come_from_the_tail_as_the_plan_says():
    wall, tile_at = _wall()
    wall.deal()
    assert [wall.replacement() for _ in range(7)] == [tile_at(PLAN.replacement(nth)) for nth in range(7)]
    assert wall.replaced == 7


def test_draws_go_on_where_the_deal_ended():
    wall, tile_at = _wall()
    dealt = sum(map(len, wall.deal()))
    assert [wall.draw() for _ in range(5)] == [tile_at(PLAN.slot(dealt + nth)) for nth in range(5)]


def test_what_stands_is_what_nobody_took():
    wall, _ = _wall()
    assert wall.heights() == ((2,) * 18,) * 4
    wall.deal()
    wall.replacement()
    assert sum(map(sum, wall.heights())) == len(wall.tiles) == 144 - 65 - 1
    start = PLAN.start
    assert wall.heights()[start.wall][start.stack - 1] == 0


def test_a_tile_turned_up_stays_and_is_never_drawn():
    wall, tile_at = _wall(dead=16)
    wall.deal()
    slot = PLAN.replacement(2)
    tile = wall.turn_up(slot)
    assert tile == tile_at(slot)
    assert wall.turned == slot
    taken = [wall.replacement() for _ in range(4)]
    assert taken == [tile_at(PLAN.replacement(nth)) for nth in (0, 1, 3, 4)]
    while wall.live:
        wall.draw()
    assert len(wall.tiles) == 16 + 1
