"""`pair` at the station: shows a ticket, listens, asks for the code of a table that comes without one."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

import segno

from station import finding
from station.addresses import is_loopback
from station.central.config import CentralConfig, load_config
from station.cli.output import OK, emit, note, say
from station.cli.typed import Typed, typing
from station.errors import ConfigError, PairingError
from station.link.key_files import bytes_of, text_of
from station.link.keys import load_pair
from station.pairing.files import enrol, identity_of
from station.pairing.listen import Desk, Person
from station.pairing.protocol import Candidate
from station.pairing.ticket import SECRET_BYTES, Ticket
from station.pairing.window import VALID_S, Window
from station.pairing.wire import table_name

ADDRESSES = 4


async def run(arguments: argparse.Namespace, path: Path) -> int:
    """Pair one table.

    Raises:
        StationError: no table was paired, or the port cannot be used.
    """
    config = load_config(path)
    keys = load_pair(Path(config.secret_key))
    host, link_port = _link(config, path)
    table = "" if arguments.what is None else table_name(arguments.what)
    async with AsyncExitStack() as stack:
        typed = await stack.enter_async_context(typing())
        window = Window(time.monotonic())
        desks: list[Desk] = []
        server = await _listening(host, config.pair_port if arguments.port is None else arguments.port, desks)
        stack.push_async_callback(_closed, server)
        port = int(server.sockets[0].getsockname()[1])
        addresses = _addresses(host)
        ticket = Ticket(
            bytes_of(keys.public),
            secrets.token_bytes(SECRET_BYTES),
            tuple(f"{address}:{port}" for address in addresses),
            table,
        )
        allow_list = Path(config.allow_list)
        desk = Desk(
            identity_of(keys),
            ticket,
            link_port,
            lambda candidate: enrol(allow_list, candidate, replace=arguments.replace),
            _person(typed),
            window,
        )
        desks.append(desk)
        if config.announce and not is_loopback(host):
            await _announce(stack, addresses, port, keys.public)
        _show(ticket, standby=config.standby, as_json=arguments.json)
        try:
            candidate = await desk.paired()
        finally:
            await desk.drained()
    _told(candidate, allow_list, as_json=arguments.json)
    return OK


def _link(config: CentralConfig, path: Path) -> tuple[str, int]:
    """Return host and port of the link.

    Raises:
        ConfigError: tables could not connect to it afterwards.
    """
    try:
        host, port = finding.endpoint_host(config.link)
    except ValueError:
        host, port = "", 0
    if port == 0:
        raise ConfigError(
            f"{path}: link = {config.link!r} has no fixed port.", fix='Set link = "tcp://0.0.0.0:7700".'
        )
    return ("0.0.0.0" if host == "*" else host.strip("[]")), port  # noqa: S104 - as the link itself


async def _listening(host: str, port: int, desks: list[Desk]) -> asyncio.Server:
    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for desk in desks:
            await desk.serve(reader, writer)

    try:
        return await asyncio.start_server(met, host, port, limit=4096)
    except (OSError, OverflowError) as error:
        raise PairingError(
            f"Port {port} at {host} cannot be used: {str(error).rstrip('.')}.",
            fix="Is another `quezhuo pair` running? Else choose --port.",
            code="pairing.port",
        ) from None


async def _closed(server: asyncio.Server) -> None:
    server.close()
    await asyncio.sleep(0)


def _addresses(host: str) -> list[str]:
    """Return what a table may reach this machine by."""
    if host not in ("0.0.0.0", "::"):  # noqa: S104 - asked, not bound
        return [f"[{host}]" if ":" in host else host]
    own = finding.own_addresses()[:ADDRESSES]
    if not own:
        raise PairingError(
            "This machine is in no network.", fix="Connect it first.", code="pairing.no_network"
        )
    return own


async def _announce(stack: AsyncExitStack, addresses: list[str], port: int, key: str) -> None:
    v4 = [address for address in addresses if ":" not in address]
    try:
        await stack.enter_async_context(finding.announced(finding.PAIRING, v4, port, key, v4))
    except OSError as error:
        note(f"not announced ({error}): tables without a ticket need --station {addresses[0]}:{port}")


def _person(typed: Typed) -> Person:
    async def code(candidate: Candidate, address: str) -> str:
        note(f"{candidate.table} at {address} asks to be paired. Type the code that it shows, then Enter:")
        return await typed.line()

    return Person(code, note)


def _show(ticket: Ticket, *, standby: bool, as_json: bool) -> None:
    if as_json:
        emit({"ticket": ticket.text, "addresses": ticket.addresses, "valid_s": int(VALID_S)})
        return
    if sys.stdout.isatty():
        segno.make(ticket.text, error="m", micro=False).terminal(sys.stdout, compact=True)
    command = f"quezhuo pair --config table.toml{' --standby' if standby else ''}"
    say("At the table, within ten minutes, once:")
    say(f"{command} {ticket.text}")
    say(f"Without the ticket: {command} --station {ticket.addresses[0]}")


def _told(candidate: Candidate, allow_list: Path, *, as_json: bool) -> None:
    key = text_of(candidate.public)
    if as_json:
        emit({"paired": candidate.table, "key": key, "allow_list": str(allow_list)})
    else:
        say(f"{candidate.table} is paired: its key {key[:8]}… is in {allow_list}.")
