"""Errors of this package. Every message is one plain sentence that says what to do."""

from __future__ import annotations


class BridgeError(Exception):
    """Base of everything this package raises on purpose."""


class UsageError(BridgeError):
    """The caller asked for something that does not exist (our side's bug, never the machine's)."""


class MessageError(BridgeError):
    """Bytes with a good checksum that do not form a message (the machine's fault, or a newer one's)."""


class ProfileError(BridgeError):
    """A machine profile is missing or its figures do not add up."""


class LedgerError(BridgeError):
    """The command ledger can not be opened or written. Nothing may be sent then."""


class UnwrittenError(LedgerError):
    """The disk refuses the command ledger now; it is tried again, and works once the disk does."""


class MissingExtraError(BridgeError):
    """A driver needs a library that is not installed; the message names the extra."""

    code = "bridge.missing_extra"


class PortError(BridgeError):
    """The port can not be opened or was lost. `code` is a stable identifier for the screen."""

    code = "port_error"


class PortMissingError(PortError):
    """No such device: the cable is out, or the path is wrong."""

    code = "port_missing"


class PortBusyError(PortError):
    """Another program holds the port; the message names it when it can be found."""

    code = "port_busy"


class PortAmbiguousError(PortError):
    """Several devices answer to one name, and nothing tells which is meant."""

    code = "port_ambiguous"


class PortDeniedError(PortError):
    """The user may not open the port."""

    code = "port_denied"
