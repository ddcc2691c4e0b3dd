"""Whether a table's configuration is still that of the session in its log."""

from __future__ import annotations

from engine.rulesets import OptionSpec, RuleSet, option_specs, unanswered
from station import messages as m
from station.errors import ConfigError
from station.table.config import TableConfig

MOST_CHIPS = 1_000_000
"""Chips a player may begin with."""


def opened_by(config: TableConfig, rules: RuleSet) -> m.SessionOpened:
    """Return the event that opens a session as configured.

    Raises:
        ConfigError: the rules are for another number of players, leave something open that must be chosen, or
            the chips can't be paid out.
    """
    check_answered(config, rules)
    chips = rules.data.stake if config.chips is None else config.chips
    if len(config.players) != rules.players:
        raise ConfigError(
            f"The rule set {rules.id} is for {rules.players} players, not {len(config.players)}.",
            fix="Name that many players.",
        )
    if not 0 <= chips <= MOST_CHIPS:
        raise ConfigError(f"chips = {chips} can't be.", fix=f"Use 0 to {MOST_CHIPS}.")
    return m.SessionOpened(
        table=config.table,
        ruleset=rules.id,
        ruleset_hash=rules.hash,
        options=dict(config.options),
        players=list(config.players),
        chips=[chips] * len(config.players),
        format=config.format,
        duration_s=config.duration_s,
    )


def check_answered(config: TableConfig, rules: RuleSet) -> None:
    """Refuse rules that leave something open which somebody has to choose.

    Raises:
        ConfigError: nobody has chosen; one plain line names option, values and what they change.
    """
    open_options = unanswered(rules.id, config.options)
    if not open_options:
        return
    asked = "; ".join(f"{spec.name} ({spec.text}): {choices_of(spec)}" for spec in open_options)
    raise ConfigError(
        f"The rules of {rules.id} leave open what has to be chosen: {asked}.",
        fix="Set it under [options].",
        code="config.unanswered",
    )


def choices_of(spec: OptionSpec) -> str:
    """Return the values an option may have, each with what it changes."""
    if not spec.effects:
        return spec.wanted
    return ", ".join(f"{value} = {effect}" for value, effect in spec.effects.items())


def check_unchanged(opened: m.SessionOpened, config: TableConfig, rules: RuleSet) -> None:
    """Compare a stored opening with the configuration: a session is played to its end as it was opened.

    Raises:
        ConfigError: they differ; the message names the setting and both values.
    """
    now = opened_by(config, rules)
    for name in ("table", "ruleset", "players", "chips", "format", "duration_s"):
        _same(name, getattr(opened, name), getattr(now, name))
    specs = option_specs(rules.id)
    for name in sorted({*opened.options, *now.options}):
        default = specs[name].default if name in specs else None
        _same(f"options.{name}", opened.options.get(name, default), now.options.get(name, default))
    _same("the rules of this program (hash)", opened.ruleset_hash, now.ruleset_hash)


def _same(name: str, stored: object, configured: object) -> None:
    if stored != configured:
        raise ConfigError(
            f"The session in this home was opened with {name} = {stored}, now it is {configured}.",
            fix="Set it back, or name another home for a new session.",
            code="config.other_session",
        )
