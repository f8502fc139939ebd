import base64
import io

import pytest
from PIL import Image

from vifidel_eval.errors import ImageIdError, VifidelError
from vifidel_eval.io.pictures import find_pictures, shrink


@pytest.fixture
def folder(tmp_path):
    def draw(*names):
        for name in names:
            Image.effect_noise((400, 300), 60).convert("RGB").save(tmp_path / name)
        return tmp_path

    return draw


def decoded(text):
    return Image.open(io.BytesIO(base64.b64decode(text)))


@pytest.mark.parametrize(
    ("image_id", "name", "file_names"),
    [
        (42, "42.png", {}),
        (42, "000000000042.jpg", {}),
        (42, "COCO_val2014_000000000042.jpg", {}),
        (42, "beach.jpg", {42: "beach.jpg"}),
        (42, "beach.jpg", {42: "val2014/beach.jpg"}),
        ("beach", "beach.jpeg", {}),
        ("beach.jpg", "beach.jpg", {}),
    ],
)
def test_pictures_are_found(folder, image_id, name, file_names):
    path = folder(name, "other.jpg")
    assert find_pictures(path, [image_id, "missing"], file_names) == {image_id: path / name}


def test_no_picture_of_any_image_is_an_error(folder):
    with pytest.raises(ImageIdError, match=r"lacks .*7.*has 1 image id: 'beach.jpg'"):
        find_pictures(folder("beach.jpg"), [7], {})
    with pytest.raises(VifidelError, match="nowhere: no such file"):
        find_pictures(folder() / "nowhere", [7], {})


def test_two_pictures_of_an_image_are_refused(folder):
    path = folder("101.jpg", "101.png", "102.jpg")
    with pytest.raises(ImageIdError, match=r"101\.jpg and 101\.png are both named after .* 101"):
        find_pictures(path, [101, 102], {})
    assert find_pictures(path, [102], {}) == {102: path / "102.jpg"}
    assert find_pictures(path, [101], {101: "101.png"}) == {101: path / "101.png"}


def test_pictures_are_small_upright_jpegs_and_know_their_size(folder):
    path = folder("1.png")
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: 400 x 300 is to be seen as 300 x 400
    Image.new("RGBA", (400, 300), (200, 0, 0, 255)).convert("RGB").save(path / "2.jpg", exif=exif)
    Image.new("RGB", (2400, 1800)).save(path / "3.png")
    small = shrink({n: path / f"{n}.{'jpg' if n == 2 else 'png'}" for n in (1, 2, 3)}, 10**6)
    sizes = [decoded(small[i].data).size for i in (1, 2, 3)]
    assert sizes == [(400, 300), (300, 400), (1024, 768)]
    assert [small[i].size for i in (1, 2, 3)] == [(400, 300), (300, 400), (2400, 1800)]
    assert decoded(small[1].data).format == "JPEG"


@pytest.mark.parametrize("budget", [0, 60_000, 600_000])
def test_the_budget_is_kept(folder, budget):
    names = [f"{number}.jpg" for number in range(8)]
    path = folder(*names)
    small = shrink({name: path / name for name in names}, budget)
    assert sum(len(picture.data) for picture in small.values()) <= budget
    assert list(small) == names[: len(small)]  # the most important ones have theirs
    assert len(small) == (8 if budget == 600_000 else len(small))


def test_pictures_in_subfolders_are_found_by_path(folder, tmp_path):
    path = folder("a.jpg")
    (path / "sub").mkdir()
    (path / "sub/b.png").touch()
    (tmp_path.parent / "outside.png").touch()
    ids = ["a.jpg", "sub/b.png", "sub/c.png", "../outside.png"]
    assert find_pictures(path, ids, {}) == {
        "a.jpg": path / "a.jpg",
        "sub/b.png": path / "sub/b.png",
    }
    (path / "a.jpg").unlink()
    assert find_pictures(path, ["sub/b.png"], {}) == {"sub/b.png": path / "sub/b.png"}
