"""Files in the published layouts are read; anything else is refused in one sentence."""

import struct

import judgement_files as files
import numpy as np
import pytest

from vifidel_eval.plugins.agreement import readers
from vifidel_eval.plugins.agreement.flickr8k import read_composite, read_flickr8k

# PASCAL-50S


def test_pascal_pairs_have_captions_votes_and_references(tmp_path):
    choices = readers.read_pascal50s(files.write_pascal(tmp_path))
    assert choices.name == "PASCAL-50S"
    assert [one.image_id for one in choices.judged] == [pair[0] for pair in files.PASCAL_PAIRS]
    assert choices.judged[0].captions == ("a red bus", "A bus is on the road")
    assert choices.preferred.tolist() == [1, -1, 1, 0, -1]  # 7:4, 5:6, 6:4, 5:5, 0:11
    assert choices.kinds == ["HC", "HI", "HM", "MM", "MM"]
    stripped = tuple(text.strip() for text in files.PASCAL_REFERENCES["2008_000001"])
    assert choices.judged[0].references == choices.judged[1].references == stripped


def test_consensus_replaces_the_votes(tmp_path, refusal):
    files.write_pascal(tmp_path)
    ratings = [[-1] * 25 + [1] * 23, [1] * 48, [1, -1] * 24, [1] * 25 + [-1] * 23, [-1] * 48]
    triplets = [
        (b, c, ["a reference"] * 48, of_pair)
        for (_, b, c, *_), of_pair in zip(files.PASCAL_PAIRS, ratings, strict=True)
    ]
    files.write_triplets(tmp_path / "consensus_pascal.mat", triplets)
    assert readers.read_pascal50s(tmp_path, consensus=True).preferred.tolist() == [-1, 1, 0, 1, -1]
    assert readers.read_pascal50s(tmp_path).preferred.tolist() == [1, -1, 1, 0, -1]
    files.write_triplets(tmp_path / "consensus_pascal.mat", triplets[:3])
    sentence = refusal(readers.read_pascal50s, tmp_path, True)
    assert "no triplets of 2 of the 5 pairs in pair_pascal.mat, such as ('cats'," in sentence
    (tmp_path / "consensus_pascal.mat").unlink()
    assert "consensus_pascal.mat: no such file" in refusal(readers.read_pascal50s, tmp_path, True)


def test_consensus_of_the_same_captions_is_told_by_the_references(tmp_path):
    # Machines give several images the same two captions; twice even the same image.
    images = ["2008_000002", "2008_000001", "2008_000003", "2008_000003"]
    files.write_pascal(tmp_path, [(image, "a dog", "a cat", 4, [1]) for image in images])
    triplets = [
        ("a dog", "a cat", (files.PASCAL_REFERENCES[image] * 10)[:48], [rating] * 48)
        for image, rating in zip(sorted(images), (1, -1, 1, -1), strict=True)
    ]
    files.write_triplets(tmp_path / "consensus_pascal.mat", triplets)
    assert readers.read_pascal50s(tmp_path, consensus=True).preferred.tolist() == [-1, 1, 1, -1]


def test_what_is_no_matlab_file_is_refused_and_matlab_7_3_is_named(tmp_path, refusal):
    path = tmp_path / "pair_pascal.mat"
    for content in (b"", b"name,sent1,sent2\n", b"\x00" * 300):
        path.write_bytes(content)
        assert "not a MATLAB file, or a damaged one" in refusal(readers.read_pascal50s, tmp_path)
    # The header of MATLAB 7.3: 116 bytes of text, 8 of no matter, version 0x0200 and "IM".
    header = b"MATLAB 7.3 MAT-file".ljust(124, b" ") + struct.pack("<H", 0x0200) + b"IM"
    path.write_bytes(header + b"\x89HDF\r\n\x1a\n" + b"\x00" * 400)
    assert "a MATLAB 7.3 file, unlike the published one" in refusal(
        readers.read_pascal50s, tmp_path
    )


FIELDS = ["name", "sent1", "sent2"]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"new_input": files.structs(["name", "text"], [("a.jpg", "b")])},
         "'new_input' is not a list of structs with name, sent1, sent2"),
        ({"category": "HCHI"}, "'category' holds no numbers"),
        ({"category": np.array([[1, 2, 3, 4, 5]])}, "no category 5; they are 1 to 4"),
        ({"category": np.array([[1, 2, 3]])}, "5 pairs, 3 categories and 5 results"),
        ({"result": files.structs(["result"], [("many",)] * 5)}, "pair 1: the votes are 'many'"),
        ({"result": files.structs(["result"], [([1, 7],)] * 5)}, "pair 1: the votes are "),
        ({"result": np.arange(5)}, "'result' is not a list of structs with result"),
        ({"new_input": files.structs(FIELDS, [("1.jpg", "b", 5.0)] * 5)},
         "pair 1: no references of image '1' in pascal50S.mat"),
        ({"new_input": files.structs(FIELDS, [("2008_000001.jpg", "b", 5.0)] * 5)},
         "pair 1: found 5.0 instead of text"),
    ],
)  # fmt: skip
def test_other_layouts_of_pairs_are_refused(tmp_path, refusal, changed, expected):
    files.write_pascal(tmp_path, **changed)
    assert expected in refusal(readers.read_pascal50s, tmp_path)


# Abstract-50S


def test_abstract_scenes_are_told_by_their_references(tmp_path):
    choices = readers.read_abstract50s(files.write_abstract(tmp_path))
    assert [one.image_id for one in choices.judged] == [1, 2, 1]
    assert choices.judged[0].captions == ("scene 0 told badly", "a duck")
    assert [one.references for one in choices.judged] == [tuple(files.SCENES[n]) for n in (0, 1, 0)]
    assert choices.preferred.tolist() == [1, -1, 0]  # 30:18, 23:25, 24:24
    assert len(set(choices.kinds)) == 1


PAIR = ("b", "c", ["a"] * 48, [1] * 48)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("b", "c", ["a"] * 47, [1] * 47)], "47 triplets, not 48 per pair"),
        ([PAIR, ("b", "c", ["a"] * 48, [1] * 47 + [2])], "triplets 49 to 96: not three captions"),
        ([("b", 3.0, ["a"] * 48, [1] * 48)], "triplets 1 to 48: not three captions and a rating"),
        ([("b", "c", ["a"] * 24, [1] * 24), ("b", "d", ["a"] * 24, [1] * 24)],
         "triplets 1 to 48: they do not all belong to one pair"),
    ],
)  # fmt: skip
def test_other_layouts_of_triplets_are_refused(tmp_path, refusal, pairs, expected):
    files.write_triplets(tmp_path / "consensus_abstract.mat", pairs)
    assert expected in refusal(readers.read_abstract50s, tmp_path)


# Flickr8k


def test_flickr_lines_have_caption_ratings_and_references(tmp_path):
    ratings = read_flickr8k(files.write_flickr8k(tmp_path))
    assert [one.image_id for one in ratings.judged] == [line[0][:-4] for line in files.FLICKR_LINES]
    assert ratings.judged[0].captions == ("the girl sings a song",)
    assert ratings.judged[0].references == tuple(files.FLICKR_CAPTIONS["1001_ab"])
    assert ratings.ratings["expert"].tolist() == [list(line[2:]) for line in files.FLICKR_LINES]
    without = [True, False, True, True, False, True, True]
    assert ratings.subsets["without own references"].tolist() == without
    assert ratings.subsets["all"].tolist() == [True] * 7


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("ExpertAnnotations.txt", "1001_ab.jpg\t1002_cd.jpg#1\t1\t1\n", "line 1: expected image,"),
        ("ExpertAnnotations.txt", "", "line 1: expected image,"),
        ("ExpertAnnotations.txt",
         "1001_ab.jpg\t1002_cd.jpg#1\t1\t1\t2\n1001_ab.jpg\t1002_cd.jpg#2\t1\t5\t2\n",
         "line 2: expected image, caption id and three ratings from 1 to 4"),
        ("ExpertAnnotations.txt", "1009.jpg\t1002_cd.jpg#1\t1\t1\t2\n",
         "line 1: 1009.jpg is not in Flickr8k.token.txt"),
        ("ExpertAnnotations.txt", "1001_ab.jpg\t1002_cd.jpg#9\t1\t1\t2\n",
         "line 1: 1002_cd.jpg#9 is not in Flickr8k.token.txt"),
        ("Flickr8k.token.txt", "1.jpg#0\tA dog\n1.jpg#1 A cat\n", "line 2: expected IMAGE.jpg#"),
        ("Flickr8k.token.txt", b"\xff1", "not a UTF-8 text file"),
        ("Flickr8k.token.txt", None, "no such file"),
        ("ExpertAnnotations.txt", None, "no such file"),
    ],
)  # fmt: skip
def test_other_flickr_lines_are_refused(tmp_path, refusal, name, content, expected):
    path = files.write_flickr8k(tmp_path) / name
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    sentence = refusal(read_flickr8k, tmp_path)
    assert sentence.startswith(str(path))
    assert expected in sentence


# Composite


def test_composite_has_two_ratings_of_three_captions(tmp_path):
    ratings = read_composite(files.write_composite(tmp_path))
    images = ["1001_ab", "1002_cd", "COCO_val2014_000000000042"]
    assert [one.image_id for one in ratings.judged] == [image for image in images for _ in range(3)]
    captions = ["a boy in the air .", "The scene contains  air;grass.", "a girl sings."]
    assert [one.captions[0] for one in ratings.judged[1:4]] == captions
    assert ratings.ratings["relevance"].tolist() == [[5], [4], [2], [4], [1], [3], [5], [3], [1]]
    thoroughness = ratings.ratings["thoroughness"][:, 0]
    assert thoroughness[:6].tolist() == [4, 3, 1, 5, 2, 2]
    assert np.isnan(thoroughness[6:]).all()
    assert {name: mask.tolist() for name, mask in ratings.subsets.items()} == {
        "all": [True] * 9,
        "8k": [True] * 6 + [False] * 3,
        "coco": [False] * 6 + [True] * 3,
        "machine": [False, True, True] * 3,
        "flickr8k machine": [False, True, True] * 2 + [False] * 3,
        "coco machine": [False] * 7 + [True] * 2,
    }
    both = ratings.ratings["mean of both"][:, 0]
    assert both[:6].tolist() == [4.5, 3.5, 1.5, 4.5, 1.5, 2.5]
    assert np.isnan(both[6:]).all()
    # The human's caption is one of the references in other spelling.
    assert ratings.judged[0].references == tuple(files.FLICKR_CAPTIONS["1001_ab"])
    assert (
        ratings.judged[0].others(ratings.judged[0].references)
        == files.FLICKR_CAPTIONS["1001_ab"][1:]
    )
    coco = ratings.judged[6]
    assert coco.others(coco.references) == ["The train is here", "A train at a station"]


@pytest.mark.parametrize(
    ("texts", "answers", "expected"),
    [
        (["a", "b", "c"], (1, 2, 6), "line 3: image 1002_cd: the rating is '6', not a number from"),
        (["a", "b", "c"], ("nan", 2, 3), "line 3: image 1002_cd: the rating is 'nan'"),
        (["a", " ", "c"], (1, 2, 3), "line 3: image 1002_cd: a caption or rating is missing"),
    ],
)
def test_wrong_composite_lines_are_named(tmp_path, refusal, texts, answers, expected):
    files.write_composite(tmp_path)
    rows = [
        ("http://x/1001_ab.jpg", ["a", "b", "c"], (1, 2, 3)),
        ("http://x/1002_cd.jpg", texts, answers),
    ]
    files.write_answers(tmp_path / "8k_correctness.csv", rows, 3)
    assert f"{tmp_path / '8k_correctness.csv'}: {expected}" in refusal(read_composite, tmp_path)


def test_other_composite_files_are_refused(tmp_path, refusal):
    assert f"{tmp_path}: no rating; give the folder with" in refusal(read_composite, tmp_path)
    files.write_composite(tmp_path)
    path = tmp_path / "8k_correctness.csv"
    good = path.read_text("utf-8")
    for content in ("", "url;h;m1;m2;1;2;3\n", good.replace(";", ","), good.replace("Q3", "C3")):
        path.write_text(content, "utf-8")
        sentence = refusal(read_composite, tmp_path)
        assert f"{path}: its first line does not name Input.image_url, Input.text1" in sentence
    path.write_text(good, "utf-8")
    (tmp_path / "captions_val2014.json").unlink()
    assert "captions_val2014.json: no such file" in refusal(read_composite, tmp_path)


CROWD = "1001_ab.jpg\t1002_cd.jpg#1\t"


def test_the_crowd_joins_the_experts(tmp_path):
    ratings = read_flickr8k(files.write_crowd(files.write_flickr8k(tmp_path)))
    experts, crowd = ratings.ratings["expert"], ratings.ratings["crowd"]
    assert (experts.shape, crowd.shape) == ((11, 3), (11, 1))
    assert experts[:7].tolist() == [list(line[2:]) for line in files.FLICKR_LINES]
    assert np.isnan(experts[7:]).all()
    assert np.isnan(crowd[:7]).all()
    assert crowd[7:, 0].tolist() == [1 / 3, 1, 0, 2 / 3]
    without = [True, False, True, True, False, True, True, True, False, True, True]
    assert ratings.subsets["without own references"].tolist() == without
    assert [one.image_id for one in ratings.judged[7:]] == [
        line[0][:-4] for line in files.CROWD_LINES
    ]
    (tmp_path / "ExpertAnnotations.txt").unlink()
    ((name, alone),) = read_flickr8k(tmp_path).ratings.items()
    assert (name, alone[:, 0].tolist()) == ("crowd", [1 / 3, 1, 0, 2 / 3])


@pytest.mark.parametrize(
    "line", ["", "a", *(CROWD + rest for rest in ("0.5\t1", "yes\t1\t1", "33\t1\t2", "nan\t1\t2"))]
)
def test_other_lines_of_the_crowd_are_refused(tmp_path, refusal, line):
    path = files.write_crowd(files.write_flickr8k(tmp_path)) / "CrowdFlowerAnnotations.txt"
    path.write_text(f"{line}\n{path.read_text('utf-8')}", "utf-8")
    assert refusal(read_flickr8k, tmp_path) == (
        f"{path}: line 1: expected image, caption id and the share of yes, and how many yes and "
        "no, separated by tabs."
    )


# Hodosh and Hockenmaier's forced choices


def test_forced_choices_are_texts_or_ids_of_captions(tmp_path):
    files.write_tokens(tmp_path / "results_20130124.token", files.FLICKR_CAPTIONS)
    folder = tmp_path
    (folder / "switch_people.txt").write_text(
        "1001_ab.jpg#0\ta boy jumps\ta girl jumps\n1002_cd.jpg\t1002_cd.jpg#0\t1001_ab.jpg#0\n"
    )
    (folder / "replace-scene.tsv").write_text("7.jpg\ta park\ta kitchen\n")
    choices = readers.read_distractors(folder)
    assert choices.kinds == ["replace scene", "switch people", "switch people"]
    assert choices.preferred.tolist() == [1, 1, 1]
    first = files.FLICKR_CAPTIONS["1001_ab"]
    assert [(one.image_id, one.captions, one.references) for one in choices.judged] == [
        (7, ("a park", "a kitchen"), ()),
        ("1001_ab", ("a boy jumps", "a girl jumps"), tuple(first)),
        (
            "1002_cd",
            (files.FLICKR_CAPTIONS["1002_cd"][0], first[0]),
            tuple(files.FLICKR_CAPTIONS["1002_cd"]),
        ),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("7.jpg\ta park", "a.txt: line 1: expected image, caption and distractor, separated by"),
        ("7.jpg\ta park\t7.jpg#1", "a.txt: line 1: 7.jpg#1 is no caption's id in "),
    ],
)
def test_wrong_forced_choices_are_named(tmp_path, refusal, line, expected):
    assert "has no file of pairs" in refusal(readers.read_distractors, tmp_path)
    (tmp_path / "a.txt").write_text(line)
    assert expected in refusal(readers.read_distractors, tmp_path)
    assert expected in refusal(readers.read_distractors, tmp_path / "a.txt")
