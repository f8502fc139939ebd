import json

import pytest
from fake_scorer import FakeScorer

import vifidel_eval
from vifidel_eval import CaptionError, VifidelError
from vifidel_eval.evaluation import Column
from vifidel_eval.runs.pairing import System
from vifidel_eval.runs.people import PEOPLE, People, people_of, with_people

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


def test_the_references_that_remain_keep_their_order():
    _, row, remaining = people_of([SYSTEM], REFERENCES)
    for image_id, references in REFERENCES.items():
        kept = [text for text in references if text != row.captions[image_id]]
        assert remaining[image_id] == kept


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


def test_the_median_is_over_all_captions_of_all_systems():
    references = {i: [f"{n} b c d e" for n in "wxyz"] for i in (1, 2)}
    short = System("short", {1: "a b", 2: "a b"})
    long = System("long", {1: "word " * 14, 2: "word " * 14})
    # The median of 2, 2, 14 and 14 is 8, to which 10 is nearer than 5.
    assert people_of([short, long], references)[0].joined == 2
