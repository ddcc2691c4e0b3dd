"""The palette can be read: WCAG contrast of every text colour on the ground it lies on, light and dark."""

import re

import pytest

from station.web.pages import STATIC_DIR

PAIRS = [
    ("ink", "bg"),
    ("ink", "card"),
    ("ink", "chip"),
    ("mut", "card"),
    ("mut", "chip"),
    ("gain", "card"),
    ("loss", "card"),
    ("warn", "warnbg"),
    ("warn", "card"),
    ("warn", "chip"),
    ("wild", "wildbg"),
    ("okink", "okbg"),
    ("bad", "card"),
    ("#fff", "ok"),
    ("#fff", "felt"),
    ("#fff", "#a61b1b"),
    ("#fff", "#41505f"),
    ("#fff", "#5b1f93"),
    ("#fff", "#12523f"),
    ("#fff", "#8a5200"),
    ("#fff", "#7a4a00"),
]
HALL_PAIRS = [
    ("ink", "card"),
    ("mut", "card"),
    ("mut", "bg"),
    ("gain", "card"),
    ("gold", "goldbg"),
    ("warn", "warnbg"),
    ("wildink", "wildbg"),
    ("#fff", "felt"),
]


def palette(theme, *sheets):
    values = {}
    for name in sheets:
        css = (STATIC_DIR / name).read_text("utf-8")
        for selector, body in re.findall(r"(:root|\[data-theme=\"\w+\"\]) \{([^}]*)\}", css):
            if selector == ":root" or theme in selector:
                values.update(re.findall(r"--(\w+): (#\w+)", body))
    return values


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
    channels = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("sheets", "pairs"),
    [(["base.css"], PAIRS), (["base.css", "hall.css"], HALL_PAIRS)],
    ids=["table", "hall"],
)
def test_text_stands_out(theme, sheets, pairs):
    colours = palette(theme, *sheets)
    for text, ground in pairs:
        ratio = contrast(colours.get(text, text), colours.get(ground, ground))
        assert ratio >= 4.5, (theme, text, ground, round(ratio, 2))


def test_black_on_white_is_21():
    assert round(contrast("#000", "#ffffff")) == 21
