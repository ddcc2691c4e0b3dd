"""Whether an address can be listened at, and who has it: a look at Linux's /proc."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path
from typing import Final

from station.doctor.facts import PortFacts

__all__ = ["holder_of", "port_facts"]

_LISTENING: Final = "0A"
_TABLES: Final = ("net/tcp", "net/tcp6")


def port_facts(setting: str, host: str, port: int) -> PortFacts | None:
    """Try to listen; None where any free port will do."""
    if port == 0:
        return None
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with contextlib.closing(socket.socket(family)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(1)
        except socket.gaierror:
            return PortFacts(setting, address, 99)  # EADDRNOTAVAIL: a name that leads nowhere
        except OSError as error:
            return PortFacts(setting, address, error.errno, holder_of(port))
    return PortFacts(setting, address)


def holder_of(port: int, proc: Path = Path("/proc")) -> tuple[int, str] | None:
    """Give (pid, program) of whoever listens at a TCP port, if this user may see it."""
    wanted = {f"socket:[{inode}]" for inode in _inodes(port, proc)}
    for folder in proc.glob("[0-9]*") if wanted else ():
        with contextlib.suppress(OSError):  # gone meanwhile, or another user's
            for fd in (folder / "fd").iterdir():
                with contextlib.suppress(OSError):
                    if str(fd.readlink()) in wanted:
                        return int(folder.name), (folder / "comm").read_text().strip()
    return None


def _inodes(port: int, proc: Path) -> set[str]:
    found = set()
    for name in _TABLES:
        with contextlib.suppress(OSError):
            for line in (proc / name).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                    found.add(fields[9])
    return found
