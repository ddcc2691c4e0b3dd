"""The append-only, hash-chained event log of a table and of the central station."""

from station.log.central_log import CentralLog
from station.log.chain import GENESIS, CentralEntry, Entry, Head
from station.log.reception import Receipt, Reception
from station.log.table_log import Log
from station.log.verification import Verification
from station.log.verify import verify_file

__all__ = [
    "GENESIS",
    "CentralEntry",
    "CentralLog",
    "Entry",
    "Head",
    "Log",
    "Receipt",
    "Reception",
    "Verification",
    "verify_file",
]
