"""Texts that somebody else chose, as they may be written on a terminal or into a line of a log.

A control character moves the cursor, clears the screen or begins a new line, a mark of writing direction
turns letters around: with them a name could write what the program never said.
Source of the ranges: https://www.unicode.org/reports/tr36/#Bidirectional_Text_Spoofing and ISO/IEC 6429.
"""

from __future__ import annotations

import re

__all__ = ["lines", "one_line"]

_HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_BUT_NEWLINE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def one_line(text: str) -> str:
    r"""Write such characters as their numbers.

    >>> print(one_line("T1\x1b[2J\nall whole"))
    T1\u001b[2J\u000aall whole
    """
    return _HARMFUL.sub(_number, text)


def lines(text: str) -> str:
    """Do the same with a text of several lines, which stay what they are."""
    return _BUT_NEWLINE.sub(_number, text)


def _number(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
