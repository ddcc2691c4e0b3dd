"""Strategies for claims and texts of any rule set, sensible or not."""

from hypothesis import strategies as st

from engine import rulesets
from engine.claim import DRAW, Claim, Counters, Facts, Options, Seat, Shown
from engine.melds import Meld, MeldKind
from engine.tiles import Tile

tiles = st.lists(st.sampled_from(list(Tile)), max_size=20).map(tuple)
melds = st.builds(
    Meld,
    st.sampled_from(list(MeldKind)),
    st.lists(st.sampled_from(list(Tile)), min_size=1, max_size=5).map(tuple),
)


def option_value(spec):
    """A value the option can have."""
    if spec.type == "bool":
        return st.booleans()
    if spec.allowed:
        return st.sampled_from(spec.allowed)
    return st.integers(spec.minimum, spec.maximum)


def fact_value(spec):
    """A value of the fact which is not its default."""
    number = st.integers(spec.minimum, min(spec.maximum, 10**6))
    values = {
        "bool": st.just(True),
        "int": number,
        "choice": st.sampled_from(spec.allowed or ("",)),
        "counters": st.fixed_dictionaries({}, optional=dict.fromkeys(spec.names, number)).map(
            lambda drawn: Counters({name: drawn[name] for name in spec.names if name in drawn})
        ),
        "tiles": tiles,
    }
    return values[spec.type].filter(lambda value: value != spec.default)


def facts_of(specs):
    """Facts in the order in which they are declared, some of them left out."""
    drawn = st.fixed_dictionaries({}, optional={name: fact_value(spec) for name, spec in specs.items()})
    return drawn.map(lambda facts: Facts({name: facts[name] for name in specs if name in facts}))


@st.composite
def claims(draw, ruleset):
    """Any claim that can be written down in the rule set's notation, however little sense it makes."""
    data = rulesets.data(ruleset)

    def perhaps(key, values, otherwise=None):
        return draw(st.just(otherwise) | values) if key in data.keys else otherwise

    seats = st.integers(0, data.players - 1).map(Seat)
    far = st.integers(0, 12).map(Seat)
    shown = ()
    winner = draw(st.none() | (seats if data.seat_facts else far))
    if data.seat_facts and draw(st.booleans()):
        laid = st.lists(melds, max_size=3).map(tuple)
        shown = tuple(
            Shown(() if seat == winner else draw(laid), draw(facts_of(data.seat_facts)))
            for seat in range(data.players)
        )
        shown = shown if any(entry.melds or entry.facts for entry in shown) else ()
    owned = winner is not None or not data.seat_facts
    names = draw(st.lists(st.sampled_from([*data.options]), max_size=4, unique=True))
    options = {name: draw(option_value(data.options[name])) for name in names}
    return Claim(
        indicator=perhaps("indicator", st.sampled_from(list(Tile))),
        concealed=draw(tiles),
        melds=draw(st.lists(melds, max_size=5).map(tuple)) if owned else (),
        win=draw(st.none() | st.sampled_from(list(Tile))),
        how=draw(st.sampled_from([*data.hows, DRAW])),
        winner=winner,
        discarder=perhaps("discarder", far),
        chips=perhaps("chips", st.lists(st.integers(0, 10**6), min_size=1, max_size=5).map(tuple)),
        xianggong=bool(perhaps("xianggong", st.booleans(), otherwise=False)),
        facts=draw(facts_of(data.facts)),
        shown=shown,
        options=Options(options),
    )


def texts(ruleset, examples):
    """Lines of words that are nearly right: pieces of `examples`, keys without values, plain noise."""
    data = rulesets.data(ruleset)
    known = [word for line in examples for word in line.split()]
    keys = [
        *("flip", "seat", "from", "chips", "how", "xianggong", "p0", "p1.", "p9"),
        *(spec.word for spec in data.facts.values()),
        *(f"p0.{spec.word}" for spec in data.seat_facts.values()),
        *(f"p1.{spec.inside}" for spec in data.seat_facts.values() if spec.inside),
        *data.options,
    ]
    values = [
        "",
        "true",
        "0",
        "-1",
        "1,2",
        "a:1",
        "honors:1,honors:2",
        "1z",
        "P:111z",
        "?",
        "draw",
        "٣",
        "9" * 12,
    ]
    word = st.one_of(
        st.text(max_size=6),
        st.text(alphabet="0123456789mpszfback?+:,=.CPKAH -", max_size=12),
        st.sampled_from([*known, "how=draw"]),
        st.sampled_from(keys),
        st.builds("{}={}".format, st.sampled_from(keys), st.sampled_from(values)),
    )
    return st.lists(word, max_size=8).map(" ".join)
