"""The hall as a fold, and its state as JSON."""

import json

import msgspec
import pytest

from station import messages as m
from station.central.fold import Hall
from station.central.hands import tile_groups
from station.central.view import Surroundings, state_object
from station.health import TableHealth
from station.log import chain
from station.log.chain import ZERO_HEAD, Stored
from station.timing.hall_clock import Countdown
from tests.station.central.conftest import LINE, Evening, claimed, confirmed, dealt, opened


def dealt_with(*steps: str) -> m.WallDealt:
    return m.WallDealt(hand=1, machine_hand=1, thrower=0, wall=1, stack=7, steps=list(steps))


def exhausted() -> m.HandClaimed:
    return m.HandClaimed(hand=1, claim=1, place=None, how="draw", source=None, open=[0, 1, 2])


NO_ACCOUNTS = {"outside": 0, "loans": 0, "carried": 0}


def state(evening: Evening, **around: object) -> dict:
    shown = state_object(evening.hall, Surroundings(**around))
    assert json.loads(json.dumps(shown)) == shown
    return shown


def table(evening: Evening, **around: object) -> dict:
    return state(evening, **around)["tables"][0]


def test_an_empty_hall_has_an_empty_state(evening: Evening) -> None:
    assert state(evening, event="杯") == {
        "pos": 0,
        "event": {
            "name": "杯",
            "format": "casual",
            "clock": {
                "started_at": None,
                "duration_s": None,
                "remaining_s": None,
                "running": False,
                "state": "idle",
                "authority": "here",
            },
        },
        "tables": [],
        "wins": [],
        "alarms": [],
    }


def test_a_table_shows_players_chips_wildcard_and_the_head_of_its_log(evening: Evening) -> None:
    evening.tell(opened(), *dealt(1))
    shown = table(evening, silence_s={"T1": 1.23})
    assert shown == {
        "id": "T1",
        "online": True,
        "last_seen_s": 1.2,
        "health": None,
        "phase": "play",
        "hand_count": 0,
        "circle": 1,
        "ruleset": "zhenjiang",
        "ended": None,
        "dealer": 0,
        "places": [
            {"place": i, "name": name, "chips": 50, "wind": f"{i + 1}z", **NO_ACCOUNTS}
            for i, name in enumerate("甲乙丙丁")
        ],
        "bank": 0,
        "wild": "2p",
        "chain_ok": True,
        "events": 5,
        "head": evening.hall.tables["T1"].head.hex(),
    }


def test_a_win_moves_chips_dealer_and_winds_and_is_shown_with_its_tiles(evening: Evening) -> None:
    evening.tell(opened(), *dealt(1), claimed(1), confirmed(1), at_s=1700)
    shown = table(evening)
    assert [p["chips"] for p in shown["places"]] == [49, 53, 49, 49]
    assert [p["wind"] for p in shown["places"]] == ["4z", "1z", "2z", "3z"]
    assert (shown["hand_count"], shown["dealer"], shown["phase"]) == (1, 1, "ruled")
    assert state(evening)["wins"] == [
        {
            "table": "T1",
            "hand_no": 1,
            "winner": 1,
            "name": "乙",
            "ruleset": "zhenjiang",
            "cls": "discard",
            "pay": [-1, 3, -1, -1],
            "outside": [],
            "line": LINE,
            "tiles": [
                ["1m", "2m", "3m"],
                ["4m", "5m", "6m", "7m", "8m", "9m", "1z", "1z", "3s", "4s", "5s"],
            ],
            "wild": "2p",
            "at": 1700.0,
        }
    ]


@pytest.mark.parametrize(
    ("bodies", "phase"),
    [
        ([], "start"),
        (dealt(1)[:1], "build"),
        (dealt(1)[:2], "deal"),
        (dealt(1)[:3], "indicator"),
        ([*dealt(1)[:2], dealt_with("flowers")], "flowers"),
        ([*dealt(1)[:2], dealt_with("gold", "indicator")], "gold"),
        ([*dealt(1)[:2], dealt_with("flowers"), m.FlowersReplaced(hand=1)], "play"),
        ([*dealt(1), exhausted()], "verdict"),
        ([*dealt(1), claimed(1)], "claim"),
        ([*dealt(1), claimed(1), confirmed(1), m.IntakeReleased(hand=1, machine_hand=1)], "intake"),
        ([m.MotionCut(hand=1, op="DEAL", cmd_id=1, why="lease")], "recovery"),
        ([m.SessionClosed(fines=[0] * 4, bank=0)], "ruled"),
    ],
)
def test_phases(evening: Evening, bodies: list[m.Body], phase: str) -> None:
    evening.tell(opened(), *bodies)
    assert table(evening)["phase"] == phase


def test_an_undone_win_is_undone_here_too(evening: Evening) -> None:
    evening.tell(opened(), *dealt(1), claimed(1), confirmed(1))
    evening.tell(m.EventCorrected(target=7, reason="wrong place"))
    assert [p["chips"] for p in table(evening)["places"]] == [50] * 4
    assert state(evening)["wins"] == []
    assert table(evening)["events"] == 8


def test_a_ruled_win_is_a_win_without_a_class(evening: Evening) -> None:
    ruled = m.HandRuled(
        hand=1,
        ruling="win",
        place=3,
        reason="judgement",
        pay=[-2, -2, -2, 6],
        deferred=[0] * 4,
        bank=0,
        next_dealer=3,
    )
    evening.tell(opened(), *dealt(1), ruled)
    (win,) = state(evening)["wins"]
    assert (win["name"], win["cls"], win["pay"], win["tiles"]) == ("丁", None, [-2, -2, -2, 6], [])


def test_wins_of_all_tables_are_listed_newest_first(evening: Evening) -> None:
    evening.tell(opened(), *dealt(1), confirmed(1), at_s=1000)
    evening.tell(opened("T2"), *dealt(1), confirmed(1), table="T2", log_id=b"B" * 16, at_s=1200)
    evening.tell(*dealt(2), confirmed(2), at_s=1100)
    assert [(w["table"], w["hand_no"]) for w in state(evening)["wins"]] == [("T2", 1), ("T1", 2), ("T1", 1)]


def test_tables_stand_in_natural_order_and_enrolled_ones_are_there_before_they_report(
    evening: Evening,
) -> None:
    evening.tell(opened("T10"), table="T10")
    shown = state(evening, enrolled=frozenset({"T2", "T10", "T1"}), silence_s={"T10": 99.0})
    assert [t["id"] for t in shown["tables"]] == ["T1", "T2", "T10"]
    assert (shown["tables"][0]["phase"], shown["tables"][0]["last_seen_s"]) == ("offline", None)
    assert shown["tables"][2]["online"] is False


def clock_of(evening: Evening, steady: float, boot: str = "b", wall: float = 0.0) -> tuple[str, int | None]:
    shown = state(evening, steady=steady, boot=boot, now=wall)["event"]["clock"]
    return shown["state"], shown["remaining_s"]


STARTED = {"v": 1, "left_ms": 3_600_000, "running": True, "at_ms": 500_000, "boot": "b"}


def test_the_clock_counts_by_the_steady_clock_whatever_the_wall_says(evening: Evening) -> None:
    evening.own("clock.started", STARTED)
    for wall in (0.0, 1e9, -3600.0):
        assert clock_of(evening, 1000.0, wall=wall) == ("running", 3100)
    assert clock_of(evening, 9999.0) == ("running", 0)
    assert state(evening, steady=1000.0, boot="b")["alarms"] == []


def test_a_clock_of_an_earlier_run_waits_for_the_head_referee(evening: Evening) -> None:
    evening.own("clock.started", STARTED)
    assert clock_of(evening, 10.0, boot="c") == ("unconfirmed", 3600)
    assert [alarm["code"] for alarm in state(evening, boot="c")["alarms"]] == ["clock.unconfirmed"]


def test_a_clock_event_that_cannot_be_read_changes_nothing(evening: Evening) -> None:
    evening.own("clock.started", {"v": 1})
    assert clock_of(evening, 10.0) == ("idle", None)


def test_a_damaged_allow_list_is_an_alarm(evening: Evening) -> None:
    assert [alarm["code"] for alarm in state(evening, list_damaged=True)["alarms"]] == ["keys.damaged"]


def test_a_new_log_of_a_table_takes_the_place_of_the_old_one(evening: Evening) -> None:
    evening.tell(opened(), *dealt(1), confirmed(1))
    evening.tell(opened(names="abcd"), log_id=b"N" * 16)
    evening.tell(m.RefereeCalled(place=0), log_id=b"A" * 16)
    shown = table(evening)
    assert [p["name"] for p in shown["places"]] == list("abcd")
    assert shown["events"] == 1
    assert evening.hall.pos == 8


# ---- alarms ----


def test_a_call_for_the_referee_stands_until_the_referee_has_acted(evening: Evening) -> None:
    evening.tell(opened(), *dealt(1), m.RefereeCalled(place=2), at_s=1005)
    called = [{"code": "referee.called", "table": "T1", "at": 1005.0, "params": {"place": 2}}]
    assert state(evening)["alarms"] == called
    evening.tell(m.IntakeReleased(hand=1, machine_hand=1))
    assert state(evening)["alarms"] == called
    evening.tell(m.PenaltyApplied(hand=1, place=2, penalty="warning", amount=0))
    assert state(evening)["alarms"] == []


def test_refused_devices_and_forks_are_alarms_newest_first(evening: Evening) -> None:
    evening.tell(opened())
    own = b"C" * 16
    evening.tell_raw([("link.denied", b'{"v":1,"reason":"not_enrolled","key":"abcdefghijk"}')], "", own)
    fork = {"v": 1, "table": "T1", "log_id": (b"A" * 16).hex(), "reason": "fork"}
    evening.tell_raw([("link.fork", json.dumps(fork).encode())], "", own, at_s=1001)
    first, second = state(evening)["alarms"]
    assert (first["code"], first["table"], first["at"]) == ("link.fork", "T1", 1001.0)
    assert second == {
        "code": "link.denied",
        "table": None,
        "at": 1000.0,
        "params": {"reason": "not_enrolled", "key": "abcdefghijk", "table": "abcdefgh…"},
    }
    assert table(evening)["chain_ok"] is False


def test_a_released_log_is_no_alarm_any_more(evening: Evening) -> None:
    evening.tell(opened())
    own = b"C" * 16
    about = {"v": 1, "table": "T1", "log_id": (b"A" * 16).hex(), "reason": "rollback"}
    other = {**about, "log_id": (b"B" * 16).hex()}
    for kind, body in (
        ("link.fork", other),
        ("link.fork", about),
        ("link.released", {**about, "by": "proof"}),
    ):
        evening.tell_raw([(kind, json.dumps(body).encode())], "", own)
    (left,) = state(evening)["alarms"]
    assert (left["code"], left["params"]["log_id"]) == ("link.fork.rollback", other["log_id"])
    assert table(evening)["chain_ok"] is True
    evening.tell_raw([("link.fork", json.dumps(about).encode())], "", own)
    assert table(evening)["chain_ok"] is False
    assert len(state(evening)["alarms"]) == 2


def test_orders_that_begin_anew_take_the_place_of_their_refusal(evening: Evening) -> None:
    evening.tell(opened())
    own = b"C" * 16
    authored = [
        ("log.authored", b'{"v":1,"log_id":"%s","name":"T1"}' % n.hex().encode())
        for n in (b"1" * 16, b"2" * 16, b"3" * 16)
    ]
    evening.tell_raw(authored[:1], "", own)
    evening.tell_raw([("link.denied", b'{"v":1,"reason":"not_followed","key":"k","table":"T1"}')], "", own)
    assert [alarm["code"] for alarm in state(evening)["alarms"]] == ["link.denied.not_followed"]
    evening.tell_raw(authored[1:], "", own)
    assert [(alarm["code"], alarm["table"]) for alarm in state(evening)["alarms"]] == [("log.authored", "T1")]


def test_a_disk_that_cannot_be_written_comes_first(evening: Evening) -> None:
    evening.tell(opened(), m.RefereeCalled(place=1))
    shown = state(evening, trouble="central.disk_full", now=5.0)["alarms"]
    assert [alarm["code"] for alarm in shown] == ["central.disk_full", "referee.called"]
    shown = state(evening, photos_full=True, now=5.0)["alarms"]
    assert [alarm["code"] for alarm in shown] == ["evidence.full", "referee.called"]


# ---- a faulty table ----


@pytest.mark.parametrize(
    ("event", "alarms"),
    [
        (("hand.confirmed", b"no json"), ["table.unreadable"]),
        (("hand.confirmed", b'{"v":1}'), ["table.unreadable"]),
        (("from.the.future", b'{"v":9}'), []),
        (m.encode(m.SessionClosed(fines=[1], bank=0)), ["table.unreadable"]),
        (m.encode(m.PenaltyApplied(hand=1, place=9, penalty="chips", amount=1)), ["table.unreadable"]),
    ],
    ids=["no JSON", "fields missing", "unknown kind", "too few places", "no such place"],
)
def test_an_event_that_cannot_be_folded_is_kept_changes_nothing_and_is_told(
    evening: Evening, event: tuple[str, bytes], alarms: list[str]
) -> None:
    evening.tell(opened(), *dealt(1))
    before = table(evening)
    evening.tell_raw([event])
    after = table(evening)
    assert after["events"] == before["events"] + 1
    assert {**after, "events": 0, "head": ""} == {**before, "events": 0, "head": ""}
    assert [alarm["code"] for alarm in state(evening)["alarms"]] == alarms
    evening.tell(confirmed(1), m.EventCorrected(target=7, reason="wrong place"), confirmed(1))
    assert [p["chips"] for p in table(evening)["places"]] == [49, 53, 49, 49]


# ---- tiles ----


@pytest.mark.parametrize(
    ("line", "groups"),
    [
        (
            "11z34s K:1111m A:2222m C:123m +5s flip=1p how=self seat=0",
            ["1111m", "back", "123m", "1z1z3s4s5s"],
        ),
        ("nonsense", []),
        ("", []),
    ],
)
def test_groups_are_melds_then_the_hand(line: str, groups: list[str]) -> None:
    shown = tile_groups(line, "zhenjiang")
    assert len(shown) == len(groups)
    if groups:
        assert shown[0] == ("1m",) * 4
        assert shown[-1] == ("1z", "1z", "3s", "4s", "5s")
        assert shown[1] == ("back", "2m", "2m", "back")


HEALTH = TableHealth(phase="play", machine=None, camera="camera.ok", log_pos=5)


def test_what_a_table_told_of_itself_is_not_shown_once_it_is_offline(evening: Evening) -> None:
    evening.tell(opened())
    online = table(evening, silence_s={"T1": 1.0}, health={"T1": HEALTH})
    assert (online["online"], online["health"]["camera"]) == (True, "camera.ok")
    offline = table(evening, silence_s={"T1": 90.0}, health={"T1": HEALTH})
    assert (offline["online"], offline["health"], offline["last_seen_s"]) == (False, None, 90.0)


def test_a_table_not_heard_since_the_station_was_started_was_heard_when_its_last_event_came() -> None:
    hall = Hall()
    for entry in chain.link(b"A" * 16, ZERO_HEAD, [m.encode(opened())], 7):
        hall.apply(Stored(1, "T1", 1_000_000, bytes(32), bytes(32), entry))
    (shown,) = state_object(hall, Surroundings(now=1360.0))["tables"]
    assert (shown["online"], shown["last_seen_s"]) == (False, 360.0)


@pytest.mark.parametrize(
    ("silence", "running", "authority", "codes"),
    [
        ({}, False, "elsewhere", ["clock.elsewhere"]),
        ({"T1": 60.0}, True, "elsewhere", ["clock.elsewhere"]),
        ({"T1": 1.0}, False, "shared", ["clock.unknown", "clock.shared"]),
        ({"T1": 1.0}, True, "shared", ["clock.shared"]),
        ({"T1": 1.0, "T2": 1.0}, False, "here", ["clock.unknown"]),
        ({"T1": 1.0, "T2": 1.0}, True, "here", []),
    ],
)
def test_a_second_station_says_whose_clock_counts(
    silence: dict[str, float], running: bool, authority: str, codes: list[str], evening: Evening
) -> None:
    clock = Countdown("running", 60.0, 0.0, True, "boot", 1) if running else Countdown()
    around = {"silence_s": silence, "enrolled": frozenset({"T1", "T2"}), "clock": clock, "boot": "boot"}
    shown = state(evening, standby=True, **around)
    assert shown["event"]["clock"]["authority"] == authority
    assert [alarm["code"] for alarm in shown["alarms"]] == codes
    main = state(evening, **around)
    assert (main["event"]["clock"]["authority"], main["alarms"]) == ("here", [])


def test_a_station_that_is_the_second_one_of_tables_but_not_set_up_so_is_told(evening: Evening) -> None:
    health = {"T1": msgspec.structs.replace(HEALTH, standby=True), "T2": HEALTH}
    around = {"silence_s": {"T1": 1.0, "T2": 1.0}, "health": health, "enrolled": frozenset({"T1", "T2"})}
    assert [alarm["code"] for alarm in state(evening, **around)["alarms"]] == ["clock.not_said"]
    told = [alarm["code"] for alarm in state(evening, standby=True, **around)["alarms"]]
    assert told == ["clock.unknown"]
