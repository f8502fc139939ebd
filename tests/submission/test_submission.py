import json
import unicodedata
import zipfile
from io import BytesIO

import hypothesis
import pytest
from hypothesis import strategies as st
from pycocotools.coco import COCO

from vifidel_eval.errors import CaptionError, VifidelWarning
from vifidel_eval.submission import check, pack, read_images
from vifidel_eval.submission.sources import Fault, zipped

IMAGES = {"val2014": [42, 73, 74], "test2014": [1, 16]}
VAL = "captions_val2014_mine_results.json"
TEST = "captions_test2014_mine_results.json"


def entries(split, **replaced):
    """Return a faultless result list, some images' entries replaced: i42={...}."""
    whole = {f"i{i}": {"image_id": i, "caption": f"image {i}"} for i in IMAGES[split]}
    return list((whole | replaced).values())


@pytest.fixture
def submit(tmp_path):
    """Check a val2014 and a test2014 file, each a list to dump, text or bytes; None: no file."""

    def submit(val="whole", test="whole", names=(VAL, TEST), **options):
        paths = []
        for split, name, given in zip(IMAGES, names, (val, test), strict=True):
            if given is None:
                continue
            content = entries(split) if given == "whole" else given
            text = content if isinstance(content, str | bytes) else json.dumps(content)
            path = tmp_path / name
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            paths.append(path)
        return check(paths, IMAGES, **options)

    return submit


def brief(submission):
    return [(fault.kind, fault.entry, fault.image_id) for fault in submission.faults]


def unzipped(data):
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def test_faultless_submission_is_packed_as_the_server_expects(submit):
    submission = submit()
    assert submission.faults == []
    assert unzipped(pack(submission)) == {VAL: entries("val2014"), TEST: entries("test2014")}


@pytest.mark.parametrize(
    ("entry", "kind", "what", "repair"),
    [
        ({"image_id": "42", "caption": "a"}, "image id type", '"42", not', "becomes 42"),
        ({"image_id": " 0042\n", "caption": "a"}, "image id type", '" 0042', "becomes 42"),
        ({"image_id": 42.0, "caption": "a"}, "image id type", "42.0, not", "becomes 42"),
        ({"image_id": 42, "caption": " a"}, "white space", "white space", "removed"),
        ({"image_id": 42, "caption": "a\n"}, "white space", "white space", "removed"),
        ({"image_id": 42, "caption": "a\u2028b"}, "line break", r'"\u2028"', "becomes a blank"),
        ({"image_id": 42, "caption": "a\r\nb"}, "line break", r'"\r"', "becomes a blank"),
        ({"image_id": 42, "caption": "a", "p": 1}, "extra key", 'key "p"', "left out"),
        ({"image_id": 42, "caption": ""}, "empty caption", "no words", None),
        ({"image_id": 42, "caption": " \u2028"}, "empty caption", "no words", None),
        ({"image_id": 42, "caption": "\u200b"}, "empty caption", "no words", None),
        ({"image_id": 42, "caption": "\0 \ufeff"}, "empty caption", "no words", None),
        ({"image_id": 42, "caption": None}, "caption type", "is null, not", None),
        ({"image_id": 42, "caption": ["a"]}, "caption type", "is a list, not", None),
        ({"image_id": 42, "caption": 7}, "caption type", "is 7, not", None),
        ({"image_id": 42}, "no caption", "no key caption", None),
        ({"image_id": 42, "caption": "\ud83d"}, "lone surrogate", "UTF-8", None),
    ],
)
def test_each_fault_of_an_entry_is_the_only_one(submit, entry, kind, what, repair):
    (fault,) = submit(entries("val2014", i42=entry)).faults
    assert (fault.kind, fault.entry, fault.image_id) == (kind, 0, 42)
    assert what in fault.what
    assert fault.repair == repair
    assert fault.file.endswith(VAL)


@pytest.mark.parametrize(
    ("entry", "kind", "what"),
    [
        ({"image_id": True, "caption": "a"}, "image id type", "is true"),
        ({"image_id": None, "caption": "a"}, "image id type", "is null"),
        ({"image_id": 42.5, "caption": "a"}, "image id type", "is 42.5"),
        ({"image_id": 1e30, "caption": "a"}, "image id type", "is 1e+30"),
        ({"image_id": 2.0**53, "caption": "a"}, "image id type", "is 9007199254740992.0"),
        ({"image_id": "9" * 5000, "caption": "a"}, "image id type", "999..."),
        ({"image_id": "COCO_val2014_000000000042", "caption": "a"}, "image id type", "COCO"),
        ({"caption": "a"}, "no image id", "no key image_id"),
        (["a"], "no entry", "found a list"),
        (None, "no entry", "found null"),
    ],
)
def test_entry_of_no_image_leaves_its_image_missing(submit, entry, kind, what):
    fault, missing = submit(entries("val2014", i73=entry)).faults
    assert (fault.kind, fault.entry, fault.image_id, fault.repair) == (kind, 1, None, None)
    assert what in fault.what
    assert (missing.kind, missing.entry, missing.image_id) == ("missing image", None, 73)


def test_reading_goes_on_after_every_fault(submit):
    val = [
        {"image_id": 42, "caption": "a"},
        {"image_id": "42", "caption": " b "},
        {"image_id": 16, "caption": ""},
        "no entry",
        {"image_id": 74, "caption": 5, "id": 1, "score": 2},
    ]
    submission = submit(val, [*entries("test2014"), {"image_id": 99, "caption": "c"}])
    assert brief(submission) == [
        ("image id type", 1, 42),
        ("white space", 1, 42),
        ("second caption", 1, 42),
        ("empty caption", 2, 16),
        ("unknown image", 2, 16),
        ("no entry", 3, None),
        ("extra key", 4, 74),
        ("extra key", 4, 74),
        ("caption type", 4, 74),
        ("missing image", None, 73),
        ("unknown image", 2, 99),
    ]


def test_second_caption_names_the_first(submit):
    (fault,) = submit([*entries("val2014"), {"image_id": 73, "caption": "image 73"}]).faults
    assert (fault.entry, fault.repair) == (3, None)
    assert "in entry 1;" in fault.what


def test_faults_of_a_kind_stand_together(submit):
    val = [{"image_id": str(i), "caption": " a"} for i in IMAGES["val2014"]]
    kinds = [fault.kind for fault in submit(val).faults]
    assert kinds == ["image id type"] * 3 + ["white space"] * 3


def test_a_key_that_stands_twice_is_a_fault_of_its_entry(submit):
    text = json.dumps(entries("val2014")).replace('"caption": "image 73"', '"caption": 1, \\g', 1)
    text = text.replace("\\g", '"caption": "image 73"')
    submission = submit(text)
    assert brief(submission) == [("repeated key", 1, 73)]


@pytest.mark.parametrize(
    ("content", "kind", "what"),
    [
        ("", "unreadable", "the file is empty"),
        ('[{"image_id": 42', "unreadable", "truncated"),
        ("[" * 100_000, "unreadable", "nested too deeply"),
        ("\xff".encode("latin-1"), "unreadable", "not a UTF-8 text file (byte 0)"),
        ({"42": "a", "73": "b", "74": "c"}, "not a list", "found an object"),
        ("null", "not a list", "found null"),
    ],
)
def test_damaged_file_does_not_hide_the_other(submit, content, kind, what):
    first, second = submit(content, entries("test2014", i16={"image_id": 16})).faults
    assert first.kind == kind
    assert what in first.what
    assert (second.kind, second.image_id) == ("no caption", 16)


def test_byte_order_mark_is_repaired(submit):
    submission = submit(b"\xef\xbb\xbf" + json.dumps(entries("val2014")).encode())
    assert brief(submission) == [("byte order mark", None, None)]
    assert unzipped(pack(submission, fix=True))[VAL] == entries("val2014")


def test_missing_file_on_disk(tmp_path):
    submission = check([tmp_path / VAL], IMAGES)
    assert [fault.kind for fault in submission.faults] == ["unreadable", *["missing file"] * 2]
    assert "no such file" in submission.faults[0].what


def test_both_splits_are_needed(submit):
    (fault,) = submit(test=None).faults
    assert fault.kind == "missing file"
    assert "test2014" in fault.what


def test_two_files_of_a_split(submit):
    submission = submit(entries("val2014"), entries("val2014"), (VAL, "mine.json"), algorithm="a")
    assert [fault.kind for fault in submission.faults] == ["second file", "missing file"]
    assert submission.faults[0].file.endswith("mine.json")


@pytest.mark.parametrize(
    "name",
    [
        "mine.json",
        "captions_val2014_results.json",
        "captions_val2014__results.json",
        "captions_val2017_mine_results.json",
        "captions_val2014_my model_results.json",
        "captions_val2014_mine_results.JSON",
        "coco_captions_val2014_mine_results.json",
    ],
)
def test_file_name(submit, name):
    (fault,) = submit(names=(name, TEST)).faults
    assert fault.kind == "file name"
    assert "captions_val2014_[alg]_results.json" in fault.what  # its image ids tell the split
    assert submit(names=(name, TEST), algorithm="mine").faults == []


def test_file_named_after_the_other_split(submit):
    submission = submit(entries("test2014"), entries("val2014"))
    assert [fault.kind for fault in submission.faults] == ["wrong split"] * 2
    assert submission.faults[0].what == "named val2014, but its images are of test2014"


def test_file_of_neither_split(submit):
    submission = submit([{"image_id": 9, "caption": "a"}], names=("mine.json", TEST), algorithm="a")
    assert [fault.kind for fault in submission.faults] == ["unknown split", "missing file"]


def test_one_algorithm(submit):
    names = (VAL, "captions_test2014_yours_results.json")
    (fault,) = submit(names=names).faults
    assert (fault.kind, "mine and yours" in fault.what) == ("algorithm name", True)
    submission = submit(names=names, algorithm="ours-1.0_b")
    assert list(unzipped(pack(submission))) == [
        "captions_val2014_ours-1.0_b_results.json",
        "captions_test2014_ours-1.0_b_results.json",
    ]


@pytest.mark.parametrize("name", ["", "my model", "a/b", "modèle"])
def test_algorithm_names_that_no_zip_should_have(submit, name):
    with pytest.raises(CaptionError, match="ASCII letters"):
        submit(algorithm=name)


def test_images_of_the_split_must_be_known(submit, tmp_path):
    submit()
    with pytest.raises(CaptionError, match=r"mine_results.*give --images-test"):
        check([tmp_path / TEST], {"val2014": IMAGES["val2014"]})


def test_repairs_are_made_only_where_asked(submit):
    val = [
        {"image_id": "42", "caption": " a cat\n"},
        {"caption": "a\u2028dog", "image_id": 73.0, "score": 0.5},
        {"image_id": 74, "caption": "ein Hündchen"},
    ]
    submission = submit(val)
    with pytest.raises(CaptionError, match=r"5 faults, so there is no zip; --fix repairs 5 of"):
        pack(submission)
    assert unzipped(pack(submission, fix=True))[VAL] == [
        {"image_id": 42, "caption": "a cat"},
        {"image_id": 73, "caption": "a dog"},
        {"image_id": 74, "caption": "ein Hündchen"},
    ]


def test_coco_reads_what_was_repaired(submit, tmp_path, capsys):
    truth = COCO()
    truth.dataset = {"images": [{"id": i} for i in IMAGES["val2014"]]}
    truth.createIndex()
    submission = submit([{"image_id": str(i), "caption": "a dog "} for i in IMAGES["val2014"]])
    with pytest.raises(AssertionError, match="do not correspond"):
        truth.loadRes(str(tmp_path / VAL))
    (tmp_path / "results.zip").write_bytes(pack(submission, fix=True))
    with zipfile.ZipFile(tmp_path / "results.zip") as archive:
        results = truth.loadRes(archive.extract(VAL, tmp_path / "unpacked"))
    assert {i: [a["caption"] for a in results.imgToAnns[i]] for i in IMAGES["val2014"]} == {
        i: ["a dog"] for i in IMAGES["val2014"]
    }


def test_no_zip_while_a_fault_has_no_repair(submit):
    submission = submit(entries("val2014", i42={"image_id": "42", "caption": ""}))
    with pytest.raises(CaptionError, match=r"^1 fault, so there is no zip\.$"):
        pack(submission, fix=True)


@pytest.mark.parametrize("order", [1, -1])
def test_same_captions_give_the_same_bytes(submit, tmp_path, order):
    submit()
    data = pack(check([tmp_path / VAL, tmp_path / TEST][::order], IMAGES))
    with zipfile.ZipFile(BytesIO(data)) as archive:
        members = archive.infolist()
    # Nothing in the zip may come from the clock, the machine or a compressor's version.
    assert [member.filename for member in members] == [VAL, TEST]
    assert {member.date_time for member in members} == {(1980, 1, 1, 0, 0, 0)}
    assert {(member.create_system, member.compress_type) for member in members} == {(3, 0)}


def test_packed_zip_passes(submit, tmp_path):
    path = tmp_path / "results.zip"
    path.write_bytes(pack(submit()))
    submission = check([path], IMAGES)
    assert submission.faults == []
    assert [file.split for file in submission.files] == ["val2014", "test2014"]


def test_the_name_of_a_file_that_cannot_be_read_is_no_second_algorithm(submit):
    faults = submit(test="[", names=(VAL, "captions_test2014_yours_results.json")).faults
    assert [fault.kind for fault in faults] == ["unreadable"]


def test_a_name_in_a_zip_does_not_drive_the_terminal(tmp_path):
    path = tmp_path / "results.zip"
    path.write_bytes(zipped({"a\nb\x1b[2J.json": b"[]", "c\r.txt": b""}))
    assert {fault.file for fault in check([path], IMAGES).faults} == {
        f"{path}/a b [2J.json",
        f"{path}/c .txt",
        "results.zip",
    }


def test_zip_faults_and_their_repairs(tmp_path):
    path = tmp_path / "mine.zip"
    val, test = (json.dumps(entries(split)).encode() for split in IMAGES)
    members = {f"results/{VAL}": val, TEST: test, "__MACOSX/._x.json": b"\0", "README": b""}
    path.write_bytes(zipped(members))
    submission = check([path], IMAGES)
    assert [(fault.kind, fault.file.removeprefix(str(path))) for fault in submission.faults] == [
        ("zip name", ""),
        ("in a folder", f"/results/{VAL}"),
        ("extra file", "/__MACOSX/._x.json"),
        ("extra file", "/README"),
    ]
    assert list(unzipped(pack(submission, fix=True))) == [VAL, TEST]


def test_damaged_zips(submit, tmp_path):
    data = pack(submit())
    path = tmp_path / "results.zip"
    path.write_bytes(data[:-10])
    assert "not a zip" in check([path], IMAGES).faults[0].what
    path.write_bytes(data.replace(b"image 42", b"image 43"))  # no longer its checksum
    first, missing = check([path], IMAGES).faults
    assert (first.kind, missing.kind) == ("unreadable", "missing file")
    assert first.file == f"{path}/{VAL}"


@pytest.mark.parametrize("key", ["annotations", "licenses"])  # captions_val2014, image_info
def test_images_in_the_order_of_their_file(tmp_path, key):
    path = tmp_path / "images.json"
    path.write_text(json.dumps({"images": [{"id": 73}, {"id": 42}], key: []}))
    with pytest.warns(VifidelWarning, match=r"images\.json: 2 images, but val2014 has 40504"):
        assert list(read_images(path, "val2014")) == [73, 42]


@pytest.mark.parametrize(
    "content", [[], {}, {"images": []}, {"images": [{"id": "42"}]}, {"images": [42]}]
)
def test_file_without_a_list_of_images(tmp_path, content):
    path = tmp_path / "images.json"
    path.write_text(json.dumps(content))
    with pytest.raises(CaptionError, match=r"images\.json: no list of images"):
        read_images(path, "val2014")


# No white space at the ends, no line break, no half a character, something to see.
CAPTION = (
    st.text(
        st.characters(
            exclude_categories=["Cs"], exclude_characters="\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"
        )
    )
    .map(str.strip)
    .filter(lambda text: any(unicodedata.category(each)[0] not in "ZC" for each in text))
)


@hypothesis.given(st.dictionaries(st.integers(0, 10**12), CAPTION, min_size=2), st.data())
def test_faultless_captions_survive_packing_unzipping_and_checking(
    tmp_path_factory, captions, data
):
    folder = tmp_path_factory.mktemp("submission")
    ids = list(captions)
    cut = data.draw(st.integers(1, len(ids) - 1))
    images = {"val2014": ids[:cut], "test2014": ids[cut:]}
    ascii_only = data.draw(st.booleans())
    expected = {}
    for name, split in ((VAL, "val2014"), (TEST, "test2014")):
        shuffled = data.draw(st.permutations(images[split]))
        expected[name] = [{"image_id": i, "caption": captions[i]} for i in shuffled]
        text = json.dumps(expected[name], ensure_ascii=ascii_only)
        (folder / name).write_text(text, "utf-8", newline="")
    submission = check([folder / VAL, folder / TEST], images)
    assert submission.faults == []
    assert unzipped(pack(submission)) == expected
    (folder / "results.zip").write_bytes(pack(submission))
    assert check([folder / "results.zip"], images).faults == []


JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
ODD_ENTRY = JSON_VALUE | st.fixed_dictionaries(
    {"image_id": st.sampled_from([42, "42", 73.0, " 74"]) | JSON_VALUE},
    optional={"caption": st.text() | JSON_VALUE, "score": JSON_VALUE},
)


@hypothesis.given(JSON_VALUE | st.lists(ODD_ENTRY))
def test_whatever_is_repaired_has_no_fault_left(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("submission")
    (folder / VAL).write_text(json.dumps(content))
    (folder / TEST).write_text(json.dumps(entries("test2014")))
    submission = check([folder / VAL, folder / TEST], IMAGES)
    assert all(isinstance(fault, Fault) for fault in submission.faults)
    if all(fault.repair for fault in submission.faults):
        (folder / "results.zip").write_bytes(pack(submission, fix=True))
        assert check([folder / "results.zip"], IMAGES).faults == []
    else:
        with pytest.raises(CaptionError):
            pack(submission, fix=True)
