"""`pair` at the table: with a ticket as text or picture, or by a code that is typed at the station."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import dataclass
from pathlib import Path

from station import finding
from station.cli.failures import plain_failures
from station.cli.output import OK, emit, note, say
from station.cli.typed import Typed, typing
from station.errors import KeyFileError, PairingError
from station.link.key_files import text_of
from station.link.keys import load_public
from station.pairing.call import pair_with_code, pair_with_ticket
from station.pairing.files import edited, identity_of, table_keys, write_offer
from station.pairing.protocol import Identity, Offer
from station.pairing.ticket import Ticket, read_ticket
from station.table.config import TableConfig, load_config

LOOKS = 100
LOOK_S = 0.3
MAX_PORT = 65535


def run(arguments: argparse.Namespace, path: Path) -> int:
    """Pair this table.

    Raises:
        StationError: it was not paired.
    """
    config = load_config(path)
    role = _role(config, path, standby=arguments.standby)
    default = path.absolute().parent / "keys" / f"{config.table}.key"
    secret_key = Path(config.secret_key) if config.secret_key else default
    # Before anything is agreed: a file that only a person can change would leave half a pairing.
    edited(
        path.read_text(encoding="utf-8"),
        key_file=f"keys/{config.table}.key",
        endpoint="",
        public_key="",
        section=role.section,
    )
    offer = asyncio.run(_agree(arguments, config, secret_key, role))
    public_key = write_offer(path, offer, secret_key, role.public_key, section=role.section)
    if arguments.json:
        emit(
            {
                "paired": config.table,
                "role": "standby" if arguments.standby else "main",
                "endpoint": offer.endpoint,
                "key": str(secret_key),
                "station_key": str(public_key),
            }
        )
    else:
        say(
            f"{config.table} is paired with the {role.name} at {offer.endpoint}: "
            f"{path}, {secret_key} and {public_key} are written; start the table again."
        )
    return OK


@dataclass(frozen=True, slots=True)
class _Role:
    """What the station that comes is for the table, and who the other one is.

    ``public_key``: where the key of the one that had this place lies; ``other``: the other one's key, and
    ``other_name`` and ``fix`` for when both are the same.
    """

    section: str
    name: str
    public_key: Path | None
    other: str | None
    other_name: str
    fix: str

    def check(self, key: str) -> None:
        """Refuse a station that is the other one already.

        Raises:
            PairingError: it is.
        """
        if key == self.other:
            raise PairingError(
                f"This station is the table's {self.other_name} already.",
                fix=self.fix,
                code="pairing.same_station",
            )


def _role(config: TableConfig, path: Path, *, standby: bool) -> _Role:
    central = config.central
    second = None if central is None else central.standby
    if not standby:
        return _Role(
            "central",
            "station",
            None if central is None else Path(central.public_key),
            _known(None if second is None else second.public_key),
            "stand-by station",
            f"Run `quezhuo pair` at the main station, or delete [central.standby] in {path} first.",
        )
    if central is None:
        raise PairingError(
            f"{path} names no main station yet.",
            fix="Pair with the main station first, without --standby.",
            code="pairing.no_main",
        )
    return _Role(
        "central.standby",
        "stand-by station",
        None if second is None else Path(second.public_key),
        _known(central.public_key),
        "main station",
        "Run `quezhuo pair` at the second station, with its own central.toml and keys.",
    )


def _known(file: str | None) -> str | None:
    """Return the key in a file; one that is missing or damaged is nobody's."""
    try:
        return None if file is None else load_public(Path(file))
    except KeyFileError:
        return None


async def _agree(arguments: argparse.Namespace, config: TableConfig, secret_key: Path, role: _Role) -> Offer:
    ticket = await _ticket(arguments, config)
    if ticket is not None:
        role.check(text_of(ticket.station))
        return await pair_with_ticket(ticket, identity_of(table_keys(secret_key)), config.table)
    offer = await _by_code(arguments, identity_of(table_keys(secret_key)), config)
    role.check(text_of(offer.public))  # it knows this table already: nothing has changed there
    return offer


async def _ticket(arguments: argparse.Namespace, config: TableConfig) -> Ticket | None:
    if arguments.what is not None:
        return read_ticket(arguments.what)
    if arguments.photo is not None:
        from station.pairing.photo import text_in_file

        return read_ticket(text_in_file(Path(arguments.photo)))
    return await _seen(config) if arguments.camera else None


async def _seen(config: TableConfig) -> Ticket:
    """Look through the table's camera until a ticket lies before it."""
    from station.pairing.photo import text_in
    from vision.camera import open_camera

    if config.camera in ("none", "render"):
        raise PairingError(
            "This table has no camera to look through.", fix="Type the ticket, or use --photo."
        )
    note("hold the ticket's QR code before the camera: some 30 cm away, flat")
    with plain_failures():
        camera = open_camera(config.camera)
        try:
            for _ in range(LOOKS):
                text = text_in((await asyncio.to_thread(camera.grab)).image)
                if text is not None:
                    return read_ticket(text)
                await asyncio.sleep(LOOK_S)
        finally:
            camera.close()
    raise PairingError("The camera saw no ticket.", fix="More light, nearer; or use --photo.")


async def _by_code(arguments: argparse.Namespace, me: Identity, config: TableConfig) -> Offer:
    if arguments.station is not None:
        addresses: tuple[str, ...] = (_address(arguments.station),)
    else:
        note("looking for a station …")
        found = await finding.find(finding.PAIRING)
        addresses = tuple(address for station in found for address in station.addresses)
    if not addresses:
        raise PairingError(
            "No station is found.",
            fix="Is `quezhuo pair` running there? Else name it: --station HOST:PORT",
            code="pairing.no_answer",
        )
    async with typing() as typed:

        def show(code: str) -> None:
            if arguments.json:
                emit({"code": code})
            else:
                say(f"{config.table} shows {code[:3]} {code[3:]}. Type this code at the station.")

        return await pair_with_code(addresses, me, config.table, show, lambda: _confirmed(typed))


def _address(text: str) -> str:
    """Return ``HOST:PORT`` as it is.

    Raises:
        PairingError: it is none.
    """
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdecimal() and 0 < int(port) <= MAX_PORT):
        raise PairingError(
            f"{text!r} is no address.", fix="Type what the station prints: --station 192.168.1.2:7701"
        )
    return text


async def _confirmed(typed: Typed) -> bool:
    note("Does the station say that the codes agree? Type yes here only then:")
    return (await typed.line()).lower() in ("y", "yes", "是")
