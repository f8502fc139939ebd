import json

import pytest
from fake_scorer import FakeScorer

import vifidel_eval
from vifidel_eval import CaptionError, VifidelError
from vifidel_eval.evaluation import Column
from vifidel_eval.scores.alignment import Aligned, System, align
from vifidel_eval.scores.samples import people_of, with_people
from vifidel_eval.scores.scores import PEOPLE, People

SYSTEM = System("ours", {1: "one two three", 2: "one two three"})
REFERENCES = {
    1: ["a dog", "the big dog", "dog on the grass", "it runs"],
    2: ["a cat", "two cats sit there", "cats"],
}


def systems_of(words, images=(1, 2)):
    return [System("ours", dict.fromkeys(images, "word " * words))]


def test_one_reference_of_each_image_is_the_caption_and_the_others_remain():
    people, row, remaining = people_of([SYSTEM], REFERENCES)
    assert row.name == PEOPLE
    for image_id, references in REFERENCES.items():
        assert sorted([row.captions[image_id], *remaining[image_id]]) == sorted(references)
    lengths = [len(caption.split()) for caption in row.captions.values()]
    assert people == People(joined=1, words=sum(lengths) / 2, images=2, too_few=0)


def test_which_reference_depends_on_the_texts_alone():
    _, row, remaining = people_of([SYSTEM], REFERENCES)
    backwards = {i: references[::-1] for i, references in reversed(REFERENCES.items())}
    _, same, others = people_of([SYSTEM], backwards)
    assert same.captions == row.captions
    assert {i: sorted(of) for i, of in others.items()} == {
        i: sorted(of) for i, of in remaining.items()
    }
    _, alone, _ = people_of([SYSTEM], {1: REFERENCES[1]})
    assert alone.captions[1] == row.captions[1]


@pytest.mark.parametrize(("words", "joined"), [(1, 1), (7, 1), (8, 2), (12, 2), (13, 3), (99, 3)])
def test_as_many_are_joined_as_come_nearest_to_the_systems_median(words, joined):
    # Every reference has 5 words, so that joined texts have 5, 10 or 15: the middles are at 7.5
    # and 12.5; one of the four always remains.
    references = {i: [f"{n} b c d e" for n in "wxyz"] for i in (1, 2)}
    people, row, remaining = people_of(systems_of(words), references)
    assert people.joined == joined
    assert people.words == 5 * joined
    assert {len(caption.split()) for caption in row.captions.values()} == {5 * joined}
    assert {len(of_image) for of_image in remaining.values()} == {4 - joined}


def test_joined_references_are_sentences_and_one_alone_is_as_it_was():
    references = {1: ["A dog runs. ", "a cat", "Is it a horse?"]}
    _, row, remaining = people_of(systems_of(50, [1]), references)
    ended = {"A dog runs. ": "A dog runs.", "a cat": "a cat.", "Is it a horse?": "Is it a horse?"}
    chosen = [ended[text] for text in references[1] if text not in remaining[1]]
    assert row.captions[1] in (" ".join(chosen), " ".join(chosen[::-1]))
    _, alone, _ = people_of(systems_of(1, [1]), references)
    assert alone.captions[1] in references[1]


def test_of_two_equal_references_one_remains():
    _, row, remaining = people_of([SYSTEM], {1: ["a dog", "a dog"]})
    assert (row.captions, remaining) == ({1: "a dog"}, {1: ["a dog"]})


def test_images_with_fewer_than_two_references_take_no_part():
    references = {**REFERENCES, 3: ["a horse"], 4: [], 5: ["a horse", " "]}
    ours = System("ours", {f"00000000000{i}.jpg": "words" for i in range(1, 6)})
    aligned = with_people(align([ours], references))
    people = aligned.people
    assert (people.images, people.too_few) == (2, 3)
    assert list(aligned.images) == [1, 2]
    assert [system.name for system in aligned.systems] == ["ours", PEOPLE]
    assert [list(system.captions) for system in aligned.systems] == [[1, 2], [1, 2]]
    assert people.notes(())[1] == (
        "3 of 5 images have fewer than two references and are left out, as people need two."
    )


def test_what_cannot_be_is_said():
    with pytest.raises(CaptionError, match=r"a system is called 'people'.*another name"):
        with_people(Aligned(REFERENCES, [System(PEOPLE, {1: "a dog"})]))
    with pytest.raises(CaptionError, match="no image has two"):
        with_people(Aligned({1: ["a dog"], 2: []}, [SYSTEM]))
    with pytest.raises(VifidelError, match="people=True needs references"):
        vifidel_eval.evaluate({"a": {1: "x"}}, objects={1: ["dog"]}, people=True)


# --- In a run ---


def evaluated(people=True, **arguments):
    shares = FakeScorer(
        "REFS", lambda caption, references: len(references) + len(caption.split()) / 10
    )
    return vifidel_eval.evaluate(
        {"ours": SYSTEM.captions}, REFERENCES, metrics=shares, people=people, **arguments
    )


def test_people_are_a_row_of_everything(tmp_path):
    run = evaluated()
    assert list(run.to_dataframe().index) == ["ours", "people"]
    assert set(run.to_dataframe(per_image=True)["system"]) == {"ours", "people"}
    assert "\npeople" in repr(run)
    words = run.scores["people"]["Words"]
    note = (
        f"people: one reference of each image ({words:.1f} words on average); every system is "
        "scored against the other references."
    )
    assert note in " ".join(repr(run).split())
    with pytest.warns(vifidel_eval.VifidelWarning, match="images are too few"):
        assert list(run.compare().metrics["REFS"].systems) == ["ours", "people"]
    run.save(tmp_path / "scores.json")
    saved = json.loads((tmp_path / "scores.json").read_text("utf-8"))
    assert saved["people"] == {"joined": 1, "words": words, "images": 2, "too_few": 0, "rates": {}}
    loaded = vifidel_eval.load(tmp_path / "scores.json")
    assert loaded.detail.people == run.detail.people
    assert repr(loaded) == repr(run)


# --- The floor beside rates of inventions ---

# Both references of an image are equal, so that it does not matter which one is left out.
TWICE = {1: ["a dog"] * 2, 2: ["a cat and a horse"] * 2}
OBJECTS = {1: ["dog"], 2: ["cat"]}


def test_rates_of_inventions_have_the_floor_of_people_without_request():
    run = vifidel_eval.evaluate(
        {"ours": {1: "a dog", 2: "a cow"}}, TWICE, OBJECTS, metrics="CHAIR", weighted=False
    )
    # Of two captions one mentions a horse, which is no object: 1 of 2; of 3 mentions 1 is absent.
    assert run.detail.people == People(1, 3.5, 2, 0, {"CHAIRs": 1 / 2, "CHAIRi": 1 / 3})
    assert run.systems == ["ours"]
    assert (
        "People: CHAIRs .500, CHAIRi .333 for one reference of each image (3.5 words on "
        "average), judged without these references." in " ".join(repr(run).split())
    )


def test_what_the_other_references_mention_is_no_invention_where_they_are_evidence():
    run = vifidel_eval.evaluate({"ours": {1: "a dog", 2: "a cow"}}, TWICE, OBJECTS, metrics="CHAIR")
    assert run.detail.people.rates == {"CHAIRs": 0, "CHAIRi": 0}


def test_there_is_no_floor_without_two_references_or_rates_of_inventions():
    ours = {"ours": {1: "a dog", 2: "a cow"}}
    once = {1: ["a dog"], 2: ["a cat and a horse"]}
    assert vifidel_eval.evaluate(ours, once, OBJECTS, metrics="CHAIR").detail.people is None
    assert vifidel_eval.evaluate(ours, None, OBJECTS, metrics="CHAIR").detail.people is None
    lower = FakeScorer("COST", columns=[Column("COST", lower_is_better=True)])
    assert vifidel_eval.evaluate(ours, TWICE, metrics=lower).detail.people is None


def test_people_are_found_however_each_side_spells_ids():
    # Only the objects say that refs/7.jpg and val/7.jpg are one image.
    run = vifidel_eval.evaluate(
        {"ours": {"val/7.jpg": "a dog"}},
        {"refs/7.jpg": ["a dog"] * 2, "refs/8.jpg": ["a cat"] * 2},
        {7: ["dog"], 8: ["cat"]},
        metrics="CHAIR",
        people=True,
        allow_subset=True,
    )
    assert [run.counts[name]["scored"] for name in ("ours", "people")] == [1, 1]
    assert run.detail.uncaptioned == 1
