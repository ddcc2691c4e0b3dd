from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest

from engine import rulesets
from station.cli.main import COMMANDS, main
from station.errors import ConfigError
from station.link.keys import load_public, load_verify
from station.link.register import load_register
from station.table.config import EXAMPLE, load_config
from station.table.opening import opened_by
from vision.geometry import Calibration, default_calibration

VECTORS = Path(__file__).parents[2] / "golden" / "zhenjiang.json"
WIN = "123m456m789m11z34s +5s flip=1p how=self seat=1"
NO_WIN = "123m456m789m11z39s +5s flip=1p how=self seat=1"


def test_every_command_has_help_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        with pytest.raises(SystemExit) as left:
            main([name, "--help"])
        assert left.value.code == 0
        assert "example: quezhuo" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["check", "--ruleset", "zhenjiang", WIN], 0),
        (["check", "--ruleset", "zhenjiang", NO_WIN], 1),
        (["check", "--ruleset", "zhenjiang", WIN, NO_WIN], 1),
        (["check", "--ruleset", "zhenjiang", "how=draw"], 0),
        (["check", "--ruleset", "zhenjiang", "12x +5s"], 2),
        (["check", "--ruleset", "nowhere", WIN], 2),
        (["check", "--ruleset", "zhenjiang"], 2),
        (["check", WIN], 2),
        (["check", "--ruleset", "zhenjiang", "--vectors", str(VECTORS)], 0),
        (["check", "--ruleset", "zhenjiang", "--vectors", "/nowhere.json"], 2),
        (["check", "--ruleset", "swiss", "--vectors", str(VECTORS.with_name("swiss.json"))], 0),
        (["check", "--ruleset", "shengji", "--vectors", str(VECTORS.with_name("swiss.json"))], 0),
        (["check", "--ruleset", "walls", "--vectors", str(VECTORS.with_name("walls.json"))], 0),
        (["check", "--ruleset", "swiss", WIN], 2),
        (["notation", WIN], 0),
        (["notation", "{"], 2),
        (["notation", '{"hand": "11z", "nonsense": 1}'], 2),
        (["rules"], 0),
        (["rules", "zhenjiang"], 0),
        (["rules", "nowhere"], 2),
        (["config", "table"], 0),
        (["config", "nothing"], 2),
        (["table", "--config", "/nowhere.toml"], 2),
        (["central", "--config", "/nowhere.toml"], 2),
        (["read", "/nowhere.jpg"], 2),
        (["read", "/nowhere.jpg", "--expect", "0"], 2),
        (["read", "/nowhere.jpg", "--region", "1,2,3"], 2),
        (["verify", "/nowhere.db"], 2),
        (["demo", "--tables", "0"], 2),
        (["demo", "--ruleset", "nowhere"], 2),
        (["demo", "--model", "/nowhere.json"], 2),
        (["nonsense"], 2),
        ([], 2),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else str(value),
)
def test_exit_status_and_one_plain_line(
    words: list[str], status: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([*words, "--home", str(tmp_path)] if words else words) == status
    told = capsys.readouterr()
    assert "Traceback" not in told.err
    if status == 2 and words:
        assert len([line for line in told.err.splitlines() if line.startswith("quezhuo: ")]) == 1


@pytest.mark.parametrize(
    "words", [["rules", "nowhere"], ["check", "--ruleset", "zhenjiang", "x"], ["nonsense"]]
)
def test_with_json_an_error_is_an_object_with_the_fix(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert set(error) == {"code", "message", "fix"}
    assert error["message"]


def test_vectors_are_answered_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--ruleset", "zhenjiang", "--vectors", str(VECTORS), "--json"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(answers) == len(json.loads(VECTORS.read_text()))
    assert all(answer["ok"] for answer in answers)


def test_a_sheet_answers_deals_walls_and_scores_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = tmp_path / "asked.json"
    asked.write_text('[{"tricks": 80}, {"n": 4, "W": 18, "d1": 5, "d2": 7}, {"results": [2, 0]}]')
    assert main(["check", "--ruleset", "shengji", "--vectors", str(asked)]) == 0
    told = capsys.readouterr().out
    assert "P 80" in told
    assert "thrower 0, wall 0, stack 13" in told
    assert "cum 4" in told


def test_a_mismatch_gives_1_and_an_unknown_key_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vector = json.loads(VECTORS.read_text())[0]
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps([{**vector, "expect": {"pay": [0, 0, 0, 0]}}]))
    assert main(["check", "--ruleset", "zhenjiang", "--vectors", str(wrong)]) == 1
    wrong.write_text(json.dumps([{**vector, "windicator": "1p"}]))
    assert main(["check", "--ruleset", "zhenjiang", "--vectors", str(wrong)]) == 2
    assert "windicator" in capsys.readouterr().err


def test_notation_converts_there_and_back(capsys: pytest.CaptureFixture[str]) -> None:
    main(["notation", WIN])
    as_object = capsys.readouterr().out
    main(["notation", as_object])
    line = capsys.readouterr().out.strip()
    main(["notation", line])
    assert json.loads(capsys.readouterr().out) == json.loads(as_object)


def test_keys_are_readable_by_their_owner_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keygen", "T1", "--home", str(tmp_path), "--json"]) == 0
    paths = json.loads(capsys.readouterr().out)
    assert stat.S_IMODE(Path(paths["key"]).stat().st_mode) == 0o600
    assert main(["keygen", "T1", "--home", str(tmp_path)]) == 2


def test_an_unreadable_photo_is_named_and_the_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.jpg"
    empty.touch()
    text = tmp_path / "text.jpg"
    text.write_text("no picture")
    assert main(["read", str(empty), str(text), "--json"]) == 2
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [set(answer) for answer in answers] == [{"file", "error"}] * 2


def test_version_names_model_rule_sets_and_protocols(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert set(facts) == {"version", "model", "rulesets", "protocols"}
    assert "zhenjiang" in facts["rulesets"]


def test_version_in_words_names_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    told = capsys.readouterr().out
    assert all(word in told for word in ("recognizer", "zhenjiang", "protocols"))


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", 'T1"', "桌"])
def test_keys_get_no_name_that_is_a_path_or_breaks_the_list(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["keygen", name, "--out", str(tmp_path / "keys")]) == 2
    assert not (tmp_path / "keys").exists()
    assert "can't name keys" in capsys.readouterr().err


def test_what_keygen_prints_is_the_allow_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keygen", "T1", "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (tmp_path / "tables.toml").write_text("\n".join(lines[lines.index("[tables.T1]") :]))
    entry = load_register(tmp_path / "tables.toml").tables["T1"]
    assert entry.key == load_public(tmp_path / "T1.pub")
    assert entry.verify == load_verify(tmp_path / "T1.pub")
    assert main(["keygen", "central", "--out", str(tmp_path)]) == 0
    assert "[tables" not in capsys.readouterr().out


def test_the_printed_table_configuration_needs_two_changes_to_play_alone(tmp_path: Path) -> None:
    text = EXAMPLE.replace('driver = "native"', 'driver = "none"')
    text = text.replace("camera = 0 ", 'camera = "folder:photos" ')
    (tmp_path / "table.toml").write_text(text)
    config = load_config(tmp_path / "table.toml")
    assert config.driver == "none"
    assert config.camera == f"folder:{tmp_path / 'photos'}"
    (tmp_path / "rendered.toml").write_text(text.replace("folder:photos", "render:scene.json"))
    assert load_config(tmp_path / "rendered.toml").camera == f"render:{tmp_path / 'scene.json'}"
    assert config.central is None
    assert config.secret_key is None


def test_the_printed_table_configuration_holds_the_central_station_in_comments(tmp_path: Path) -> None:
    lines = [
        re.sub(r"^# (secret_key|\[central[.a-z]*\]|endpoint|public_key)", r"\1", line)
        for line in EXAMPLE.split("\n")
    ]
    (tmp_path / "table.toml").write_text("\n".join(lines))
    config = load_config(tmp_path / "table.toml")
    assert config.central is not None
    assert config.central.public_key == str(tmp_path / "keys/central.pub")
    assert config.central.standby is not None
    assert config.central.standby.public_key == str(tmp_path / "keys/standby.pub")
    assert config.secret_key == str(tmp_path / "keys/T1.key")


def test_the_help_of_the_simulated_machine_lists_its_faults(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["machine-sim", "--help"])
    assert "jam=PLACE[@MOTION]   " in capsys.readouterr().out


def test_a_reason_is_said_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--ruleset", "zhenjiang", NO_WIN])
    assert "no_decomposition (the tiles do not make sets and a pair)" in capsys.readouterr().out


def test_a_zone_without_a_calibration_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", "/nowhere.jpg", "--zone", "2"]) == 2
    assert "--calibration" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["read", "enroll --which a.json b.json"])
@pytest.mark.parametrize(
    ("zone", "message"),
    [
        ("7", "There is no zone 7: name one of 0, 1, 2, 3, indicator."),
        ("2", "The zone 2 was not taught: teach"),
    ],
)
def test_a_zone_that_cannot_be_looked_at_is_told_once_before_any_picture(
    command: str, zone: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = default_calibration()
    file = tmp_path / "c.json"
    Calibration(whole.size, {"0": whole.zone(0)}).save(file)
    words = ["/nowhere.jpg", "/none.jpg", "--calibration", str(file), "--zone", zone]
    assert main([*command.split(), *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    assert message in told.err


def test_a_missing_photo_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", "/nowhere.jpg"]) == 2
    assert capsys.readouterr().err.count("/nowhere.jpg") == 1


@pytest.mark.parametrize("ruleset", rulesets.ids())
def test_the_configuration_for_a_rule_set_asks_what_has_to_be_chosen(
    ruleset: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "table", "--ruleset", ruleset]) == 0
    text = capsys.readouterr().out
    asked = [spec for spec in rulesets.option_specs(ruleset).values() if spec.ask]
    for spec in asked:
        assert f"\n# {spec.name} = " in text
        assert spec.text in text
        assert all(f"#   {value} = {effect}" in text for value, effect in spec.effects.items())
    path = tmp_path / "table.toml"
    path.write_text(text)
    config = load_config(path)
    rules = rulesets.load(ruleset)
    assert (len(config.players), config.chips, config.options) == (rules.players, rules.data.stake, {})
    must = [spec.name for spec in asked if spec.ask == "must"]
    if must:
        with pytest.raises(ConfigError, match=must[0]):
            opened_by(config, rules)
    path.write_text(re.sub(rf"^# ({'|'.join(must) or '-'}) = ", r"\1 = ", text, flags=re.MULTILINE))
    answered = load_config(path)
    assert opened_by(answered, rulesets.load(ruleset, answered.options)).options.keys() == set(must)


def test_only_a_table_is_configured_for_a_rule_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "central", "--ruleset", "xiamen"]) == 2
    assert main(["config", "table", "--ruleset", "nowhere"]) == 2
    assert "known are" in capsys.readouterr().err


@pytest.mark.parametrize("name", [*rulesets.ids(), *rulesets.sheet_ids()])
def test_a_rule_set_is_shown_with_all_it_declares(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", name, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    data = (rulesets.sheet(name) if name in rulesets.sheet_ids() else rulesets.load(name)).data
    for kind in ("hows", "facts", "seat_facts", "calls", "options"):
        listed = [entry["name"] for entry in told.get(kind, [])]
        assert listed == list(getattr(data, kind, {}))
    assert main(["rules", name]) == 0
    text = capsys.readouterr().out
    for kind in ("hows", "facts", "seat_facts", "calls"):
        assert all(f"\n  {entry['name']} (" in text for entry in told.get(kind, []))


def test_every_rule_set_and_sheet_has_its_hash_in_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version", "--json"]) == 0
    hashes = json.loads(capsys.readouterr().out)["rulesets"]
    assert set(hashes) == {*rulesets.ids(), *rulesets.sheet_ids()}


def test_a_score_sheet_has_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["notation", "--ruleset", "shengji", "11z"], ["check", "--ruleset", "shengji", "11z"]):
        assert main(words) == 2
        assert "no one-line notation" in capsys.readouterr().err


def test_an_unknown_option_sends_to_the_help_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["restore", "backup", "--config", "table.toml"]) == 2
    assert "See `quezhuo restore --help`" in capsys.readouterr().err
    assert main(["--nothing"]) == 2
    assert "See `quezhuo --help`" in capsys.readouterr().err
