"""Replication of hash-chained logs, the same both ways: table → central station and commands back.

`Sender` sends one chain to one peer; `Receiver` keeps copies of chains of any number of peers. `TableEnd` and
`CentralEnd` are the two ends of the link made from them. Nothing here knows sockets, clocks or threads.
"""

from station.link.replicate.central_end import CentralEnd, Incoming, Outgoing
from station.link.replicate.limits import Limits
from station.link.replicate.receiver import Arrived, Receiver, Taken
from station.link.replicate.sender import Sender, SenderState, SenderTimes
from station.link.replicate.table_end import CENTRAL, TableEnd

__all__ = [
    "CENTRAL",
    "Arrived",
    "CentralEnd",
    "Incoming",
    "Limits",
    "Outgoing",
    "Receiver",
    "Sender",
    "SenderState",
    "SenderTimes",
    "TableEnd",
    "Taken",
]
