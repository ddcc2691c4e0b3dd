import json
import os
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.camera import DeviceCamera, Frame, open_camera
from vision.errors import CameraError, ImageError, SceneError
from vision.geometry import default_calibration


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

    def test_a_missing_scene_is_said_plainly(self, tmp_path: Path) -> None:
        with pytest.raises(SceneError, match="cannot be read"):
            open_camera(f"render:{tmp_path / 'none.json'}").grab()


class FakeCapture:
    def __init__(self, opened: bool = True, frames: int = 1) -> None:
        self.opened, self.frames, self.released = opened, frames, False

    def isOpened(self) -> bool:  # noqa: N802
        return self.opened

    def read(self) -> tuple[bool, np.ndarray | None]:
        self.frames -= 1
        return (True, np.zeros((4, 4, 3), np.uint8)) if self.frames >= 0 else (False, None)

    def release(self) -> None:
        self.released = True


class TestDevice:
    def test_gives_frames_until_the_cable_is_pulled(self) -> None:
        capture = FakeCapture()
        camera = DeviceCamera(2, lambda: 3.0, lambda number: capture)
        frame = camera.grab()
        assert isinstance(frame, Frame)
        assert frame.source == "camera 2"
        with pytest.raises(CameraError, match="check its cable"):
            camera.grab()
        camera.close()
        assert capture.released

    def test_a_device_that_is_not_there_is_said_plainly(self) -> None:
        with pytest.raises(CameraError, match="There is no camera 7"):
            DeviceCamera(7, capture=lambda number: FakeCapture(opened=False))


@pytest.mark.parametrize("source", ["", "folder:", "render:", "rtsp://x", "-1", "webcam"])
def test_another_text_names_no_camera(source: str) -> None:
    with pytest.raises(CameraError, match="names no camera"):
        open_camera(source)
