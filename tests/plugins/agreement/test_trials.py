"""Scores under drawn references: what metrics are given, and what an interrupted run keeps."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from fake_scorer import FakeScorer

from vifidel_eval.errors import MetricUnavailable, VifidelError
from vifidel_eval.evaluation import Column
from vifidel_eval.io.outputs import Parts
from vifidel_eval.plugins.agreement.judgements import AS_GIVEN, Judged, times_drawn
from vifidel_eval.plugins.agreement.trials import read_scores, run_trials, work, write_candidates
from vifidel_eval.scorers import Mean


class NoParts(Parts):
    """Has every part computed again, even where two draws come out the same."""

    def __contains__(self, key):
        return False


def given_to(scorer, judged, numbers, draws=3, seed=0):
    """Return the references a metric was given by number, draw by draw, judgement by judgement."""
    scorer.calls.clear()
    run_trials(judged, {scorer.name: scorer}, numbers, draws, seed, NoParts(None))
    assert all(rows.image_ids == [one.image_id for one in judged] for rows in scorer.calls)
    # Each side gets the same references.
    per_part = (list(rows.references) for rows in scorer.calls[:: len(judged[0].captions)])
    return {
        number: [next(per_part) for _ in range(times_drawn(judged, number, draws))]
        for number in numbers
    }


@pytest.mark.parametrize(
    ("caption", "reference", "same"),
    [
        ("a boy is leaping.", "A boy is leaping .", True),
        ("a well known man, sitting", "A well-known man sitting", True),
        ("A DOG!", " a  dog", True),
        ("a_dog", "a dog", True),
        ("outside a bookstore.", "outside a book store", True),
        ("they do n't sit", "They don't sit.", True),
        ("Ein Bär", "ein bär.", True),
        ("Ein Bär", "ein Bar", False),
        ("two dogs", "two dog", False),
        ("2 dogs", "3 dogs", False),
    ],
)
def test_a_candidate_is_not_among_its_references(caption, reference, same):
    one = Judged(1, (caption, "another"), (reference, "further"))
    assert one.others(one.references) == (["further"] if same else [reference, "further"])


def test_smaller_draws_are_among_larger_ones(overlap, judged):
    given = given_to(overlap, judged, [1, 3, 11])
    for one, three, eleven in zip(given[1], given[3], given[11], strict=True):
        for small, middle, large in zip(one, three, eleven, strict=True):
            assert (len(small), len(middle), len(large)) == (1, 3, 11)
            assert large[:3] == middle
            assert middle[:1] == small
            assert len(set(large)) == 11


def test_captions_are_read_out_of_answers(overlap):
    judged = [Judged("a", ("<think>A cat?</think>A dog.",), ("a dog", "a cat"))]
    run_trials(judged, {"CIDEr": overlap}, [1], 1, 0, Parts(None))
    assert overlap.calls[0].captions == ["A dog."]


def test_no_references_leave_out_metrics_that_need_them(overlap, length, judged):
    combined = FakeScorer("CIDEr+VIFIDEL", lambda *_: 1)
    scorers = {"CIDEr": overlap, "VIFIDEL": length, "CIDEr+VIFIDEL": combined}
    assert work(judged, scorers, [0, 2], draws=3) == (1 + 3 * 3) * 12
    trials = run_trials(judged, scorers, [0, 2], 3, 0, Parts(None))
    draws = {
        name: {number: len(of) for number, of in by_number.items()}
        for name, by_number in trials.scores.items()
    }
    assert draws == {"CIDEr": {2: 3}, "VIFIDEL": {0: 1, 2: 3}, "CIDEr+VIFIDEL": {2: 3}}
    assert list(trials.signatures) == list(draws) == list(scorers)
    assert all(references == [] for references in length.calls[0].references)
    assert trials.references == [0, 2]


def test_a_metric_that_turns_out_unavailable_is_named(overlap, judged):
    def fail(*_):
        raise MetricUnavailable("no Java here.")

    scorers = {"METEOR": FakeScorer("METEOR", fail), "CIDEr": overlap}
    no_spice = {"SPICE": MetricUnavailable("no.")}
    trials = run_trials(judged, scorers, [1], 2, 0, Parts(None), unavailable=no_spice)
    content = {"SPICE": "no.", "METEOR": "no Java here."}
    assert {name: str(why) for name, why in trials.unavailable.items()} == content
    assert list(trials.signatures) == ["CIDEr"]
    assert trials.to_json()["unavailable"] == content
    alone = run_trials(judged, {"METEOR": scorers["METEOR"]}, [1], 1, 0, Parts(None))
    assert (alone.scores, list(alone.unavailable)) == ({}, ["METEOR"])


def test_where_lower_is_better_the_sign_is_changed(judged, tmp_path):
    columns = [Column("UP"), Column("DOWN", lower_is_better=True)]
    for _ in range(2):  # computed, then read from the parts
        scorers = {
            "one": FakeScorer("VIFIDEL", lambda c, _: len(c), [Column("X", lower_is_better=True)]),
            "two": FakeScorer("WMD", lambda c, _: (len(c), len(c) / 2), columns),
        }
        trials = run_trials(judged, scorers, [1], 1, 0, Parts(tmp_path / "o.json"))
        lengths = np.array([[len(one.captions[side]) for one in judged] for side in range(2)])
        assert list(trials.signatures) == ["one", "UP", "DOWN"]
        assert trials.lower_is_better == {"one", "DOWN"}
        for metric, expected in {"one": -lengths, "UP": lengths, "DOWN": -lengths / 2}.items():
            np.testing.assert_array_equal(trials.scores[metric][1][0], expected)
    assert trials.to_json()["lower_is_better"] == ["DOWN", "one"]
    assert "Sign changed, as lower is better: one, DOWN." in trials.notes()


def test_given_scores_join_as_they_are(overlap, judged):
    trials = run_trials(judged, {"CIDEr": overlap}, [1], 2, 0, Parts(None))
    scores = np.arange(12.0).reshape(2, 6)
    joined = trials.with_tool_scores([({"mine": scores}, "digest")])
    assert joined.references == [1, AS_GIVEN]
    np.testing.assert_array_equal(joined.scores["mine"][AS_GIVEN], [scores])
    assert list(joined.signatures) == ["CIDEr", "mine"]
    assert trials.references == [1]
    with pytest.raises(VifidelError, match="there is another CIDEr"):
        trials.with_tool_scores([({"CIDEr": scores}, "digest")])


# Parts


@pytest.fixture
def interrupted():
    """Return a metric that is interrupted at its n-th caption."""

    def interrupted(at):
        seen = []

        def score(caption, references):
            seen.append(caption)
            if len(seen) == at:
                raise KeyboardInterrupt
            return (len(caption) + len(" ".join(references))) / 7

        return FakeScorer("CIDEr", score)

    return interrupted


def test_an_interrupted_run_goes_on_where_it_was(tmp_path, interrupted, judged):
    output = tmp_path / "result.json"
    with pytest.raises(KeyboardInterrupt):
        run_trials(judged, {"CIDEr": interrupted(31)}, [1, 5, "all"], 2, 0, Parts(output))
    kept = output.with_name("result.json.unfinished")
    assert len(kept.read_text("utf-8").split()) > 0
    again = interrupted(0)
    parts = Parts(output)
    trials = run_trials(judged, {"CIDEr": again}, [1, 5, "all"], 2, 0, parts)
    assert len(again.calls) == 2 * 3  # five parts, two of them finished; two sides each
    whole = interrupted(0)
    expected = run_trials(judged, {"CIDEr": whole}, [1, 5, "all"], 2, 0, Parts(None))
    assert len(whole.calls) == 2 * 5
    assert repr(trials) == repr(expected)
    assert kept.exists()
    parts.clear()
    assert list(tmp_path.iterdir()) == []


def test_other_settings_do_not_use_the_parts(tmp_path, interrupted, judged):
    output = tmp_path / "result.json"
    run_trials(judged, {"CIDEr": interrupted(0)}, [2], 1, 0, Parts(output))

    def calls(judged=judged, number=2, seed=0, signature=None):
        scorer = FakeScorer("CIDEr", lambda *_: 0.5, signature=signature)
        run_trials(judged, {"CIDEr": scorer}, [number], 1, seed, Parts(output))
        return len(scorer.calls)

    assert calls() == 0
    assert calls(seed=1) == 2
    assert calls(number=3) == 2
    assert calls(signature="CIDEr|other") == 2
    assert calls([*judged[:-1], replace(judged[-1], captions=("new", "caption 1"))]) == 2
    assert calls([*judged[:-1], replace(judged[-1], image_id="d")]) == 2


def test_a_caption_that_is_the_only_reference_has_no_score_where_one_is_needed(overlap, length):
    judged = [Judged("a", ("a dog",), ("A dog.",)), Judged("b", ("a cat",), ("the cat", "a dog"))]
    scorers = {"VIFIDEL": length, "CIDEr": overlap, "VIFIDEL+CIDEr": Mean(length, overlap)}
    advanced = []
    trials = run_trials(judged, scorers, ["all"], 1, 0, Parts(None), advanced.append)
    assert trials.scores["VIFIDEL"]["all"][0].tolist() == [[2, 2]]
    ((missing, one),) = trials.scores["CIDEr"]["all"][0]
    assert np.isnan(missing)
    assert one == pytest.approx(2 / 4)
    assert np.isnan(trials.scores["VIFIDEL+CIDEr"]["all"][0]).tolist() == [[True, False]]
    assert overlap.calls[0].references == [["the cat", "a dog"]]
    assert overlap.calls[0].image_ids == ["b"]
    assert sum(advanced) == work(judged, scorers, ["all"], 1)


# Other tools


PAIRS = [
    Judged("2008_1", ("Ein Bär.", "a dog"), ("ein bär", "the bear")),
    Judged(np.int64(7), ("a cat", "a cow"), ("a cow", "a cat!", "an animal")),
]


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "candidates.json"
    write_candidates(path, PAIRS)
    return path


def test_captions_stand_with_the_references_they_are_scored_against(written):
    assert json.loads(written.read_text("utf-8")) == [
        {"id": "1.1", "image_id": "2008_1", "caption": "Ein Bär.", "references": ["the bear"]},
        {"id": "1.2", "image_id": "2008_1", "caption": "a dog", "references": ["the bear"]},
        {"id": "2.1", "image_id": 7, "caption": "a cat", "references": ["an animal"]},
        {"id": "2.2", "image_id": 7, "caption": "a cow", "references": ["an animal"]},
    ]


def scored(path, scores, change=lambda entries: entries):
    entries = json.loads(path.read_text("utf-8"))
    for entry, score in zip(entries, scores, strict=True):
        entry["score"] = score
    path.write_text(json.dumps(change(entries)), "utf-8")
    return path


def test_scores_come_back_by_id_in_any_order(written):
    path = scored(written, [0.1, 2, -3.5, None], lambda entries: entries[::-1])
    columns, _ = read_scores(path, PAIRS)
    assert list(columns) == ["score"]
    scores = columns["score"]
    assert scores.shape == (2, 2)
    assert scores.dtype == np.float64
    assert scores[:, 0].tolist() == [0.1, 2.0]
    assert scores[0, 1] == -3.5
    assert math.isnan(scores[1, 1])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda e: e[:-1], "3 scores for 4 captions, 1 without one (ids '2.2')"),
        (lambda e: [*e, {"id": "3.1", "score": 1}], "5 scores for 4 captions, 0 without one"),
        (lambda e: [{"id": f"x{i}", "score": 1} for i in range(4)], "4 without one (ids '1.1', "),
        (lambda e: [], "has no scores"),
        (lambda e: 5, "is not a file of scores"),
        (lambda e: [*e[:2], 5, e[3]], "[2]: expected an object"),
        (lambda e: [{"score": 1}, *e[1:]], "[0]: 'id' is missing"),
        (lambda e: [e[0] | {"id": 1}, *e[1:]], "(image 1): 'Ein Bär.' is not the caption with"),
        (lambda e: [*e[:3], e[2] | {"score": 9}, e[3]], "[3]: image '2.1' is listed twice"),
        (lambda e: [e[0] | {"caption": "no"}, *e[1:]], "'no' is not the caption with that id"),
        *(
            (lambda e, score=score: [e[0] | {"score": score}, *e[1:]], "expected a finite number")
            for score in ("0.5", True, [1], math.inf, 10**400)
        ),
    ],
)
def test_other_files_are_refused(written, change, expected):
    path = scored(written, [1, 2, 3, 4], change)
    with pytest.raises(VifidelError) as caught:
        read_scores(path, PAIRS)
    assert str(caught.value).startswith(str(path))
    assert expected in str(caught.value)
