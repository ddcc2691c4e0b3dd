import itertools
import json
import os
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.camera import DeviceCamera, Frame, Wishes, open_camera
from vision.device import AS_IT_IS
from vision.errors import CameraError, ImageError, SceneError
from vision.geometry import default_calibration
from vision.render import Arm, Bump, Glare, Scene, Stray, Upset, render


def put(folder: Path, name: str, level: int, at: int) -> None:
    data = cv2.imencode(".png", np.full((8, 8, 3), level, np.uint8))[1].tobytes()
    (folder / name).write_bytes(data)
    os.utime(folder / name, (at, at))


class TestFolder:
    def test_the_newest_picture_is_the_next_frame(self, tmp_path: Path) -> None:
        put(tmp_path, "b.png", 10, 1000)
        put(tmp_path, "a.png", 20, 2000)
        camera = open_camera(f"folder:{tmp_path}", clock=lambda: 7.5)
        frame = camera.grab()
        assert frame.image.max() == 20
        assert (frame.taken_at, frame.source) == (7.5, str(tmp_path / "a.png"))
        put(tmp_path, "c.JPEG.png", 30, 3000)
        assert camera.grab().image.max() == 30
        camera.close()

    def test_other_files_are_passed_over(self, tmp_path: Path) -> None:
        put(tmp_path, "a.PNG", 10, 1000)
        (tmp_path / "notes.txt").write_text("later")
        (tmp_path / "folder.png").mkdir()
        assert open_camera(f"folder:{tmp_path}").grab().image.max() == 10

    def test_an_empty_folder_is_said_plainly(self, tmp_path: Path) -> None:
        with pytest.raises(CameraError, match="no picture in"):
            open_camera(f"folder:{tmp_path}").grab()

    def test_a_missing_folder_is_said_plainly(self, tmp_path: Path) -> None:
        with pytest.raises(CameraError, match="no folder"):
            open_camera(f"folder:{tmp_path / 'none'}")

    def test_a_folder_that_went_away_is_said_plainly(self, tmp_path: Path) -> None:
        camera = open_camera(f"folder:{tmp_path}")
        tmp_path.rmdir()
        with pytest.raises(CameraError, match="cannot be read"):
            camera.grab()

    def test_a_picture_still_being_copied_is_refused(self, tmp_path: Path) -> None:
        put(tmp_path, "a.png", 10, 1000)
        (tmp_path / "b.png").write_bytes((tmp_path / "a.png").read_bytes()[:-15])
        with pytest.raises(ImageError, match="cut off"):
            open_camera(f"folder:{tmp_path}").grab()


class TestRender:
    def test_the_scene_is_read_again_for_every_frame(self, tmp_path: Path) -> None:
        scene = tmp_path / "scene.json"
        scene.write_text(json.dumps({"indicator": None, "hands": {}}))
        calibration = default_calibration((320, 240))
        camera = open_camera(f"render:{scene}", calibration, clock=lambda: 1.0)
        empty = camera.grab()
        scene.write_text(json.dumps({"indicator": "1p", "hands": {}}))
        shown = camera.grab()
        assert empty.image.shape == (240, 320, 3)
        view = [calibration.rectify(f.image, "indicator").image.mean() for f in (empty, shown)]
        assert view[1] > view[0] + 15
        camera.close()

    def test_two_frames_of_one_scene_differ_only_in_noise(self, tmp_path: Path) -> None:
        scene = tmp_path / "scene.json"
        scene.write_text(json.dumps({"indicator": "1p", "hands": {}}))
        camera = open_camera(f"render:{scene}", default_calibration((320, 240)))
        first, second = camera.grab().image, camera.grab().image
        difference = cv2.absdiff(first, second)
        assert 0 < difference.mean() < 6

    def test_every_frame_of_a_film_is_the_one_rendered_for_it(self, tmp_path: Path) -> None:
        path, size = tmp_path / "scene.json", default_calibration((320, 240))
        knocked = Upset(bump=Bump(2.0))
        arms = [Upset(arms=(Arm(0, 0.0, reach),)) for reach in (80.0, 140.0)]
        others = Upset(glares=(Glare(0.0, 0.0),)), Upset(strays=(Stray("1m", 50.0, 200.0),)), Upset(gain=0.5)
        scene = Scene(indicator="1p", light_seed=3, film=(knocked, knocked, *arms, *others))
        camera = open_camera(f"render:{path}", size)
        for shown in (scene, replace(scene, light_seed=4), scene):
            shown.save(path)
            for number in range(9):
                wanted = render(shown, size, number, upset=shown.upset(number))
                assert np.array_equal(camera.grab().image, wanted), number

    def test_a_missing_scene_is_said_plainly(self, tmp_path: Path) -> None:
        with pytest.raises(SceneError, match="cannot be read"):
            open_camera(f"render:{tmp_path / 'none.json'}").grab()


class Desk:
    """A computer to which one camera is plugged in; its time passes only while it waits for a frame."""

    def __init__(self, interval: float = 1 / 30, refuses: tuple[int, ...] = ()) -> None:
        self.now, self.interval, self.refuses = 100.0, interval, refuses
        self.plugged, self.opened, self.released = True, 0, 0

    def ticks(self) -> float:
        return self.now

    def capture(self, device: int | str) -> "FakeCapture":
        self.opened += 1
        return FakeCapture(self, device)


class FakeCapture:
    """A driver with four buffers: what they hold lies ready, newer frames have to be waited for."""

    def __init__(self, desk: Desk, device: int | str) -> None:
        self.desk, self.device = desk, device
        self.good = desk.plugged
        self.due = desk.now + desk.interval
        self.grabbed_of = 0.0
        self.props: dict[int, float] = {cv2.CAP_PROP_AUTO_EXPOSURE: 3.0, cv2.CAP_PROP_FRAME_WIDTH: 640.0}

    def isOpened(self) -> bool:  # noqa: N802
        return self.good

    def grab(self) -> bool:
        if not (self.good and self.desk.plugged):
            self.good = False
            return False
        self.desk.now = max(self.desk.now + 0.001, self.due)
        self.grabbed_of = self.due
        # Four frames wait at most; with all buffers full the driver goes on only when one is free again.
        self.due += self.desk.interval
        return True

    def retrieve(self) -> tuple[bool, np.ndarray | None]:
        return True, np.full((4, 4, 3), int(self.grabbed_of) % 256, np.uint8)

    def set(self, prop: int, value: float) -> bool:
        if prop in self.desk.refuses:
            return False
        self.props[prop] = value
        return True

    def get(self, prop: int) -> float:
        return self.props.get(prop, 0.0)

    def release(self) -> None:
        self.desk.released += 1


def device(desk: Desk, wishes: Wishes = AS_IT_IS, name: int | str = 2) -> DeviceCamera:
    return DeviceCamera(name, wishes, lambda: desk.now, desk.capture, desk.ticks)


class TestDevice:
    def test_a_frame_says_where_and_when_it_was_taken(self) -> None:
        desk = Desk()
        frame = device(desk).grab()
        assert isinstance(frame, Frame)
        assert frame.source == "camera 2"
        assert frame.taken_at == desk.now
        assert frame.age(desk.now + 2.5) == pytest.approx(2.5)
        assert frame.age(desk.now - 1.0) == 0.0

    def test_after_a_pause_no_old_frame_is_given(self) -> None:
        desk = Desk()
        camera = device(desk)
        camera.grab()
        desk.now += 0.13  # four frames wait in the driver's buffers by then
        asked_at = desk.now
        camera.grab()
        capture = camera._capture
        assert isinstance(capture, FakeCapture)
        assert capture.grabbed_of >= asked_at

    def test_a_driver_whose_frames_all_lie_ready_is_not_asked_for_ever(self) -> None:
        desk = Desk(interval=0.0)
        assert device(desk).grab().image.shape == (4, 4, 3)

    def test_a_device_that_is_not_there_is_said_plainly(self) -> None:
        desk = Desk()
        desk.plugged = False
        with pytest.raises(CameraError, match="There is no camera 7"):
            device(desk, name=7)

    def test_it_is_opened_again_when_it_is_plugged_in_again(self) -> None:
        desk = Desk()
        camera = device(desk, name="/dev/v4l/by-id/usb-cam")
        camera.grab()
        desk.plugged = False
        with pytest.raises(CameraError, match="check its cable"):
            camera.grab()
        assert desk.released == 1
        desk.plugged = True
        with pytest.raises(CameraError, match="is away"):
            camera.grab()
        desk.now += 0.6
        assert camera.grab().source == "camera /dev/v4l/by-id/usb-cam"

    def test_pauses_between_tries_grow_up_to_a_limit(self) -> None:
        desk = Desk()
        camera = device(desk)
        desk.plugged = False
        tries = []
        for _ in range(400):
            before = desk.opened
            with pytest.raises(CameraError):
                camera.grab()
            if desk.opened > before:
                tries.append(desk.now)
            desk.now += 0.1
        pauses = [b - a for a, b in itertools.pairwise(tries)]
        assert pauses == pytest.approx([1.0, 2.0, 4.0, 8.0, 8.0, 8.0][: len(pauses)], abs=0.11)
        assert len(pauses) >= 5

    def test_after_a_good_frame_the_pause_is_short_again(self) -> None:
        desk = Desk()
        camera = device(desk)
        for _ in range(2):
            desk.plugged = False
            with pytest.raises(CameraError):
                camera.grab()
            desk.plugged = True
            desk.now += 0.6
            camera.grab()

    def test_wishes_are_told_to_the_driver_and_read_back(self) -> None:
        camera = device(Desk(), Wishes((1920, 1080), 150.0, 4600.0, 20.0))
        capture = camera._capture
        assert isinstance(capture, FakeCapture)
        assert camera.refused == ()
        assert capture.props[cv2.CAP_PROP_AUTO_EXPOSURE] == 1.0
        assert capture.props[cv2.CAP_PROP_FOURCC] == cv2.VideoWriter.fourcc(*"MJPG")
        assert [capture.props[p] for p in (cv2.CAP_PROP_AUTO_WB, cv2.CAP_PROP_AUTOFOCUS)] == [0.0, 0.0]

    def test_without_wishes_automatic_controls_stay(self) -> None:
        capture = device(Desk())._capture
        assert isinstance(capture, FakeCapture)
        assert capture.props[cv2.CAP_PROP_AUTO_EXPOSURE] == 3.0

    def test_what_the_driver_refuses_is_named(self) -> None:
        desk = Desk(refuses=(cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_AUTO_EXPOSURE, cv2.CAP_PROP_FOCUS))
        camera = device(desk, Wishes((1920, 1080), 150.0, 4600.0, 20.0))
        assert camera.refused == ("size", "exposure", "focus")

    def test_closing_releases_it(self) -> None:
        desk = Desk()
        camera = device(desk)
        camera.close()
        camera.close()
        assert desk.released == 1


@pytest.mark.parametrize("source", ["", "folder:", "render:", "rtsp://x", "-1", "webcam"])
def test_another_text_names_no_camera(source: str) -> None:
    with pytest.raises(CameraError, match="names no camera"):
        open_camera(source)
