"""The append-only, hash-chained event log that every process keeps."""

from station.log.chain import GENESIS, Entry, Head, Stored
from station.log.log import Log
from station.log.reception import Receipt, Reception
from station.log.verification import Verification
from station.log.verify import verify_file

__all__ = [
    "GENESIS",
    "Entry",
    "Head",
    "Log",
    "Receipt",
    "Reception",
    "Stored",
    "Verification",
    "verify_file",
]
