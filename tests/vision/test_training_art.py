"""Tile art: every kind is drawn, kinds differ, the product's own sprite is cut right."""

from pathlib import Path

import numpy as np
import pytest

from vision.training import art, flowers, lettering, pen, styles
from vision.training.dataset import LABELS

CODE_DRAWN = [label for label in LABELS[:43] if label[1] in "ps" or label in ("5z", "back")]


def test_kinds_drawn_by_code_differ_in_every_style():
    rng = np.random.default_rng(3)
    for _ in range(3):
        style = styles.random_style(rng)
        style.index = 0
        faces = [art.draw_face(label, style).astype(int) for label in CODE_DRAWN]
        for i, face in enumerate(faces):
            assert face.shape == (pen.FACE_H, pen.FACE_W, 3)
            assert all(np.abs(face - other).mean() > 1 for other in faces[:i])


def test_same_seed_draws_the_same_face():
    one, two = (art.draw_face("1s", styles.random_style(np.random.default_rng(9))) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_own_sprite_has_every_kind():
    faces = art.sprite_faces()
    assert set(faces) == set(LABELS[:43])
    green = faces["back"].reshape(-1, 3).mean(0)
    assert green[1] > green[2] + 30
    red = faces["7z"].reshape(-1, 3).min(0)
    assert faces["5z"].reshape(-1, 3)[:, 0].min() > red[0]


def test_characters_need_fonts():
    pytest.importorskip("PIL")
    if not Path(styles.FONTS[0][0]).exists():
        pytest.skip("Debian's fonts-noto-cjk is not installed")
    style = styles.random_style(np.random.default_rng(1))
    style.font = styles.FONTS[0]
    faces = [art.draw_face(label, style).astype(int) for label in LABELS[:9] + LABELS[34:42]]
    assert all(np.abs(a - b).mean() > 0.5 for i, a in enumerate(faces) for b in faces[:i])


def test_a_bent_glyph_keeps_its_strokes_and_a_straight_one_every_pixel():
    mask = np.zeros((80, 60), np.uint8)
    mask[10:70, 25:35] = 255
    mask[35:45, 5:55] = 255
    assert lettering.bent(mask, styles.Hand()) is mask
    for seed in range(12):
        hand = styles._random_hand(np.random.default_rng(seed))
        bent = lettering.bent(mask, hand)
        assert bent.max() > 200
        assert 0.4 < (bent > 127).sum() / (mask > 127).sum() < 1.6


def test_a_hollow_glyph_keeps_the_outlines_of_its_strokes_alone():
    mask = np.zeros((150, 150), np.uint8)
    mask[30:120, 60:90] = 255
    outline = lettering.hollow(mask, 0.03)
    assert outline.shape == mask.shape
    assert not outline[mask == 0].any()
    assert outline[75, 60] == outline[75, 89] == outline[30, 75] == 255
    assert not outline[45:105, 70:80].any()
    assert lettering.hollow(mask, 0) is mask


def test_every_font_has_the_forms_it_is_asked_for():
    pytest.importorskip("PIL")
    from PIL import ImageFont

    missing = [path for path, _, _ in styles.FONTS if not Path(path).exists()]
    if missing:
        pytest.skip(f"not installed: {missing[0]}")
    asked = set("".join(art.HONOURS) + art.NUMERALS + flowers.FLOWERS + "伍萬万") - set("东发兰")
    for path, index, simplified in dict.fromkeys(styles.FONTS):
        font = ImageFont.truetype(path, 60, index=index)
        blank = {bytes(font.getmask(tofu)) for tofu in ("\ue0f0", "\uf8f0", " ")}
        for character in asked | (set("东发兰") if simplified else set()):
            assert bytes(font.getmask(character)) not in blank, (path, character)


def test_a_red_five_has_no_ink_but_red():
    for seed in range(6):
        style = styles.random_style(np.random.default_rng(seed))
        style.index = 0
        face = art.draw_face("5p", art.red_style(style)).astype(int)
        ink = face[np.abs(face - np.median(face, (0, 1))).max(2) > 70]
        assert len(ink) > 300
        assert (ink[:, 2] - ink[:, :2].max(1)).min() > 20


def test_a_finished_face_is_reddened_where_it_is_printed():
    face = np.full((128, 96, 3), 240, np.uint8)
    face[40:80, 30:60] = (120, 30, 20)
    red = art.redden(face).astype(int)
    assert (red[50, 45, 2] - red[50, 45, :2].max()) > 60
    np.testing.assert_array_equal(red[5, 5], face[5, 5])
