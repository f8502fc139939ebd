"""Folders, tars, lists and single pictures."""

import io
import sys
import tarfile
from types import SimpleNamespace

import pytest
from drawn_pictures import drawn, read_lines
from fake_detector import ColourDetector

from vifidel_eval.detect import PictureSource, detect
from vifidel_eval.errors import VifidelError
from vifidel_eval.plugins.detect import detected_objects, picture_sources
from vifidel_eval.words.settings import Settings

NAMES = ["p0.png", "p2.png", "p4.png", "sub/p1.png", "sub/p3.png", "sub/p5.png"]


def packed(path, photos, mode="w", names=NAMES):
    with tarfile.open(path, mode) as tar:
        for name in names:
            tar.add(photos / name, name)
    return path


def test_a_folder_is_read_with_its_subfolders(photos):
    (photos / "notes.txt").write_text("no picture")
    (photos / "._p0.png").write_bytes(b"what macOS keeps beside p0.png")
    (photos / "folder.jpg").mkdir()
    source = PictureSource(photos)
    assert source.image_ids == NAMES
    assert [picture.content for picture in source] == [photos / name for name in NAMES]


def test_links_are_followed_once(photos, tmp_path):
    (photos / "sub" / "up").symlink_to(photos, target_is_directory=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    drawn(9).save(elsewhere / "p9.png")
    (photos / "linked").symlink_to(elsewhere, target_is_directory=True)
    (photos / "dead.png").symlink_to(tmp_path / "nothing")
    assert PictureSource(photos).image_ids == ["linked/p9.png", *NAMES]


@pytest.mark.parametrize(("name", "mode"), [("a.tar", "w"), ("a.tar.gz", "w:gz"), ("a.TAR", "w")])
def test_a_tar_gives_the_lines_of_the_folder(photos, tmp_path, name, mode):
    detect(PictureSource(photos), ColourDetector(), tmp_path / "folder.jsonl")
    path = packed(tmp_path / name, photos, mode)
    source = PictureSource(path)
    assert source.image_ids == NAMES
    detect(source, ColourDetector(), tmp_path / "tar.jsonl")
    assert (tmp_path / "tar.jsonl").read_bytes() == (tmp_path / "folder.jsonl").read_bytes()


def test_a_tar_on_standard_input(photos, tmp_path, monkeypatch):
    content = packed(tmp_path / "a.tar", photos).read_bytes()
    detect(PictureSource(photos), ColourDetector(), tmp_path / "folder.jsonl")

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    source = PictureSource("-")
    assert source.image_ids is None
    detect(source, ColourDetector(), tmp_path / "piped.jsonl")
    assert (tmp_path / "piped.jsonl").read_bytes() == (tmp_path / "folder.jsonl").read_bytes()
    with pytest.raises(VifidelError, match="standard input: its pictures are not known"):
        detect(source, ColourDetector(asked=True), tmp_path / "a.jsonl", questions={"p0": ["red"]})


def test_hostile_tars(photos, tmp_path, monkeypatch):
    path = packed(tmp_path / "a.tar", photos)
    whole = path.read_bytes()
    path.write_bytes(whole[:2900])  # in the third member
    with pytest.raises(VifidelError, match=r"a.tar: the tar cannot be read to its end \("):
        detect(PictureSource(path), ColourDetector(), tmp_path / "o.jsonl")
    path.write_bytes(b"nothing")
    with pytest.raises(VifidelError, match="the tar cannot be read to its end"):
        PictureSource(path)
    packed(path, photos, names=["p0.png", "p0.png"])
    with pytest.raises(VifidelError, match=r"'p0.png' appears twice; keep one"):
        PictureSource(path)
    # A member is judged by what the tar says of it, before it is read.
    packed(path, photos)
    monkeypatch.setattr(picture_sources, "_MOST_BYTES", 100)
    with pytest.raises(VifidelError, match=r"none of its 6 pictures can be read, .* more than 100"):
        detect(PictureSource(path), ColourDetector(), tmp_path / "p.jsonl")


def test_a_header_that_claims_64_gigabytes(photos, tmp_path, monkeypatch):
    """They are not looked for block by block, not even in a stream."""
    path = packed(tmp_path / "a.tar", photos, names=["p0.png", "p2.png"])
    with tarfile.open(path) as tar:
        at = tar.getmember("p2.png").offset
    header = tarfile.TarInfo("p2.png")
    header.size = 64 << 30
    claimed = header.tobuf(tarfile.GNU_FORMAT) + b"content"
    path.write_bytes(path.read_bytes()[:at] + claimed)
    with pytest.raises(VifidelError, match=r"the tar cannot be read to its end \(unexpected"):
        PictureSource(path)
    reads = []

    class Counted(io.BytesIO):
        def read(self, size=-1):
            reads.append(size)
            return super().read(size)

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Counted(path.read_bytes())))
    with pytest.raises(VifidelError, match=r"^-: the tar cannot be read to its end \(unexp"):
        detect(PictureSource("-"), ColourDetector(), tmp_path / "o.jsonl")
    assert len(reads) < 100


def test_members_of_a_tar_are_only_read(photos, tmp_path):
    """Names that lead out of a folder are names, and links are no pictures."""
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as tar:
        tar.add(photos / "p0.png", "../../p0.png")
        tar.add(photos / "p2.png", "./a/p2.png")
        link = tarfile.TarInfo("link.png")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    assert PictureSource(path).image_ids == ["../../p0.png", "a/p2.png"]


def test_a_list_names_pictures_beside_itself(photos, tmp_path):
    path = photos / "list.txt"
    path.write_text("sub/p3.png\n\n./p0.png \r\nmissing.jpg\n")
    source = PictureSource(path)
    assert source.image_ids == ["sub/p3.png", "p0.png", "missing.jpg"]
    done = detect(source, ColourDetector(), tmp_path / "o.jsonl")
    assert done.problems == {"missing.jpg": "there is no such file"}
    assert list(read_lines(tmp_path / "o.jsonl")[1]) == source.image_ids


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("p0.png\np0.png\n", "line 2: 'p0.png' appears twice; keep one"),
        ("p0.png\na dog\n", "line 2: 'a dog' is not the name of a picture; write the path of one"),
        ("p\0.png\n", "line 1: .* is not the name of a picture"),
        ("", "has no pictures"),
    ],
)
def test_lists_that_are_none(tmp_path, content, sentence):
    path = tmp_path / "list.txt"
    path.write_text(content)
    with pytest.raises(VifidelError, match=sentence):
        PictureSource(path)


def test_a_picture_alone_and_nothing_to_read(photos):
    assert PictureSource(photos / "p0.png").image_ids == ["p0.png"]
    (empty := photos / "empty").mkdir()
    (empty / "notes.txt").write_text("no picture")
    for path, message in (
        (photos / "p9.png", "there is no such picture"),
        (empty, "has no pictures"),
        (photos / "nowhere", "check the path"),
    ):
        with pytest.raises(VifidelError, match=message):
            PictureSource(path)


def test_a_run_with_a_detector_tells_pictures_from_objects(photos, tmp_path, monkeypatch):
    """Of tars, compressed or not, and of pictures of any suffix; the rest are read as objects."""
    detector = ColourDetector()
    monkeypatch.setattr(detected_objects, "find_model", lambda *_: detector.files)
    monkeypatch.setattr(detected_objects, "load_detector", lambda *_: detector)
    before = packed(tmp_path / "before.tar", photos)
    result = detected_objects.detect_objects(before, "colours")
    assert result.name == "before.tar.colours.objects.jsonl"
    single = tmp_path / "single.avif"
    drawn(0).save(single, "PNG")
    pictures = [photos, before, packed(tmp_path / "more.tgz", photos, "w:gz"), single]
    paths = [*pictures, result]
    settings = Settings(objects=paths, detector="colours")
    read = detected_objects.with_detected(settings, paths, []).objects
    built = [path.with_name(f"{path.name}.colours.objects.jsonl") for path in pictures]
    assert read == [*built, result]
