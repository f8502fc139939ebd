"""Several captions per image: mean, best and worst against plain runs of single captions."""

import csv
import json
import math
from functools import cache

import pytest
from conftest import call

import vifidel_eval
from vifidel_eval import VifidelError
from vifidel_eval.captions import read_samples
from vifidel_eval.errors import CaptionError, ImageIdError
from vifidel_eval.show.score_tables import per_image_csv

pytestmark = pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")

REFERENCES = {
    1: ["a dog runs on the grass", "a brown dog is running in a field"],
    2: ["a cat sits on a sofa", "there is a cat on the couch"],
    3: ["a man rides a horse", "a man on a horse near a fence"],
}
OBJECTS = {1: ["dog"], 2: ["cat", "couch"], 3: ["person", "horse"]}
SAMPLES = {
    1: ["a dog runs on grass", "a cat on grass", "it is sunny", "a dog and a cat in a field"],
    2: ["a cat sits", "a dog on a sofa", "a cat on a couch", "so nice"],
    3: ["a man rides a horse", "a man on a bicycle", "a horse", "a dog near a fence"],
}
METRICS = "VIFIDEL,VIFIDEL-PRF,VIFIDEL-H,CIDEr,BLEU,CHAIR"


def evaluate(systems, metrics=METRICS, **given):
    given = {"references": REFERENCES, "objects": OBJECTS, "progress": False, **given}
    return vifidel_eval.evaluate(systems, metrics=metrics, **given)


@cache
def plain(number):
    """Return the run of the captions with that number."""
    return evaluate({"a": {i: texts[number] for i, texts in SAMPLES.items()}})


@pytest.fixture(scope="module")
def evaluated():
    return evaluate({"a": SAMPLES}, samples=True)


def test_scores_of_images_are_those_of_runs_of_single_captions(evaluated):
    plains = [plain(number) for number in range(4)]
    lower = {c.name for c in plains[0].detail.columns() if c.lower_is_better}
    unranked = {c.name for c in plains[0].detail.columns() if not c.ranked}
    sampled = evaluated.per_image("a")
    for column in plains[0].columns:
        for image_id in SAMPLES:
            result = [one.per_image("a")[image_id][column] for one in plains]
            result = [score for score in result if score is not None]
            expected = {"mean": None, "best": None, "worst": None}
            if result:
                ends = max(result), min(result)
                best, worst = ends[::-1] if column in lower else ends
                expected = {"mean": math.fsum(result) / len(result), "best": best, "worst": worst}
            for which, score in expected.items():
                if column in unranked and which != "mean":
                    assert f"{column} {which}" not in evaluated.columns
                else:
                    assert sampled[image_id][f"{column} {which}"] == (
                        None if score is None else pytest.approx(score, abs=1e-12)
                    )


@pytest.mark.parametrize("column", ["Bleu_1", "Bleu_4", "CHAIRs", "CHAIRi", "VIFIDEL-Hi", "CIDEr"])
@pytest.mark.parametrize("which", ["best", "worst"])
def test_the_corpus_score_is_that_of_a_system_that_gave_these_captions(evaluated, column, which):
    plains = [plain(number) for number in range(4)]
    lower = next(c.lower_is_better for c in plains[0].detail.columns() if c.name == column)
    chosen = {}
    for image_id, texts in SAMPLES.items():
        scores = [one.per_image("a")[image_id][column] for one in plains]
        defined = [(score, at) for at, score in enumerate(scores) if score is not None]
        extreme = min if (which == "best") == lower else max
        score = extreme(score for score, _ in defined)
        chosen[image_id] = texts[next(at for other, at in defined if other == score)]
    assert evaluated.scores["a"][f"{column} {which}"] == pytest.approx(
        evaluate({"a": chosen}).scores["a"][column], abs=1e-12
    )


def test_an_image_may_have_fewer_samples():
    fewer = {1: SAMPLES[1][:1], 2: SAMPLES[2], 3: SAMPLES[3][:2]}
    run = evaluate({"a": fewer, "b": {i: texts[:2] for i, texts in SAMPLES.items()}}, samples=True)
    assert all(text.endswith("|samples:1-4") for text in run.signatures.values())
    plains = [plain(number) for number in range(4)]
    for column in ("CIDEr", "VIFIDEL", "VIFIDEL-F"):
        for image_id, texts in fewer.items():
            scores = [one.per_image("a")[image_id][column] for one in plains[: len(texts)]]
            assert run.per_image("a")[image_id][f"{column} mean"] == pytest.approx(
                sum(scores) / len(texts), abs=1e-12
            )
            assert run.per_image("a")[image_id][f"{column} best"] == max(scores)
    assert run.counts["a"]["samples"] == 7
    assert run.counts["b"]["samples"] == 6
    # "it is sunny" and "so nice" mention nothing; only the latter is among these captions.
    assert run.counts["a"]["no_mentions"] == 1
    assert run.counts["b"]["no_mentions"] == 0


def test_samples_without_a_score_are_left_out_and_counted():
    objects = {1: ["dog"], 2: [], 3: ["horse"]}
    three = {i: texts[:3] for i, texts in SAMPLES.items()}
    run = evaluate({"a": three}, "VIFIDEL", references=None, objects=objects, samples=True)
    assert run.per_image("a")[2]["VIFIDEL best"] is None
    content = {"scored": 2, "undefined": 1, "undefined_samples": 3, "samples": 9}
    assert run.counts["a"].items() >= content.items()
    images = [run.per_image("a")[i]["VIFIDEL mean"] for i in (1, 3)]
    assert run.scores["a"]["VIFIDEL mean"] == pytest.approx(sum(images) / 2)


def test_a_caption_that_mentions_nothing_counts_where_no_other_is_there():
    run = evaluate({"a": {1: ["so nice", "very nice"], 2: ["a cat"], 3: ["a dog"]}}, "CHAIR",
                   samples=True)  # fmt: skip
    assert run.per_image("a")[1]["CHAIRi best"] is None
    assert run.scores["a"]["CHAIRi best"] == pytest.approx(1 / 2)
    assert run.scores["a"]["CHAIRs best"] == pytest.approx(1 / 3)
    assert run.counts["a"]["undefined_samples"] == 0


# Files, tables, and what is refused


def records(captions=SAMPLES):
    return [{"image_id": i, "caption": text} for i, texts in captions.items() for text in texts]


@pytest.fixture
def files(tmp_path):
    content = {
        "a.json": records(),
        "b.json": {str(i): texts[:2] for i, texts in SAMPLES.items()},
        "references.json": {str(i): texts for i, texts in REFERENCES.items()},
        "objects.json": {str(i): labels for i, labels in OBJECTS.items()},
    }
    for name, held in content.items():
        (tmp_path / name).write_text(json.dumps(held), "utf-8")
    return tmp_path


def score(folder, *arguments, metrics="VIFIDEL,CHAIR", samples=("--samples",)):
    sides = "--references", folder / "references.json", "--objects", folder / "objects.json"
    given = "score", folder / "a.json", folder / "b.json", *sides, "--metrics", metrics
    return call(*given, *samples, *arguments)


@pytest.mark.parametrize(
    "content",
    [
        records(),
        {str(i): texts for i, texts in SAMPLES.items()},
        [{"image_id": i, "caption": texts} for i, texts in SAMPLES.items()],
        "\n".join(json.dumps(record) for record in records()),
        "image_id,caption\n" + "".join(f"{r['image_id']},{r['caption']}\n" for r in records()),
        "\n".join(
            json.dumps({"doc_id": i, "doc": {"image_id": i}, "filtered_resps": texts})
            for i, texts in SAMPLES.items()
        ),
    ],
)
def test_every_layout_holds_samples(tmp_path, content):
    path = tmp_path / "samples"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    assert read_samples(path) == SAMPLES


def test_the_command_says_what_python_says(files):
    output = files / "out.json"
    result = score(files, "--output", output, "--compare", "--signatures",
                   "--require", "VIFIDEL best >= .2")  # fmt: skip
    assert (result.exit_code, "Error" in result.stderr) == (0, False), result.output
    shown = result.stdout
    assert "CHAIRs worst" in shown
    assert "samples:2-4" in shown
    run = evaluate({"a": SAMPLES, "b": {i: t[:2] for i, t in SAMPLES.items()}},
                   "VIFIDEL,CHAIR", samples=True)  # fmt: skip
    loaded = vifidel_eval.load(output)
    assert loaded.columns == run.columns
    for name in ("a", "b"):
        assert loaded.scores[name] == pytest.approx(run.scores[name], abs=1e-9, nan_ok=True)
        assert loaded.counts[name]["samples"] == {"a": 12, "b": 6}[name]
    frame = run.to_dataframe(per_image=True)
    assert len(frame) == 6
    assert frame.loc[0, "VIFIDEL best"] == run.per_image("a")[1]["VIFIDEL best"]
    cited = call("info", "--cite", output)
    assert "Rohrbach" in cited.output
    failed = score(files, "--require", "VIFIDEL worst >= .99")
    assert failed.exit_code == 3
    chosen = score(files, "--columns", "VIFIDEL best,CHAIRi mean", "--format", "csv")
    assert chosen.stdout.startswith("System,VIFIDEL best,CHAIRi mean,")


def test_the_plain_name_of_a_column_is_its_mean(files):
    def shown(*options):
        result = score(files, *options, "--format", "csv", metrics="CHAIR,VIFIDEL-PRF")
        return result.exit_code, result.stdout.partition("\n")[0], result.stderr

    _, header, _ = shown("--columns", "chairs,VIFIDEL-F best,VIFIDEL-P")
    assert header.startswith("System,CHAIRs mean,VIFIDEL-F best,VIFIDEL-P mean,")
    # b, image by image: of two captions, "a cat" and "a dog" are not there, nor "a bicycle": one of
    # two in each image, so that CHAIRs is 1/2 on average, and 1 for the worst.
    assert shown("--require", "b: CHAIRs <= .5")[0] == 0
    assert shown("--require", "b: CHAIRs worst >= 1")[0] == 0
    status, _, message = shown("--require", "b: CHAIRs < .5")
    assert status == 3
    assert "b: CHAIRs mean is 0.5, but CHAIRs mean < 0.5 is required." in message
    status, _, message = shown("--require", "VIFIDEL-X > 0")
    assert status == 2
    assert "there is no column 'VIFIDEL-X'" in message


def test_without_the_option_several_captions_are_refused_with_its_name(files):
    result = score(files, samples=())
    assert result.exit_code == 1
    assert "two captions for image 1 (entries [0] and [1]); keep one (if the" in result.stderr
    assert "give --samples or evaluate(samples=True)" in result.stderr
    with pytest.raises(CaptionError, match=r"4 captions for one image; .*--samples"):
        evaluate({"a": SAMPLES})


@pytest.mark.parametrize(
    "options", [("--people",), ("--leaderboard", "l.json"), ("--calibrate", "q")]
)
def test_what_needs_one_caption_is_a_usage_error(files, options):
    arguments = [files / part if "." in part or part == "q" else part for part in options]
    result = score(files, *arguments)
    assert result.exit_code == 2
    assert f"{options[0]} needs one caption per image; leave out --samples." in result.stderr


def test_python_refuses_what_needs_one_caption(evaluated, tmp_path):
    with pytest.raises(VifidelError, match="people=True needs one caption per image"):
        evaluate({"a": SAMPLES}, samples=True, people=True)
    with pytest.raises(VifidelError, match="one per image, and this run has samples"):
        evaluated.add_to_leaderboard(tmp_path / "l.json")


def test_an_image_without_a_caption_is_missing_and_a_list_without_one_refused():
    some = {1: SAMPLES[1], 2: SAMPLES[2]}
    with pytest.raises(ImageIdError, match="'a, sample 1' has no caption for 1 of 3 images"):
        evaluate({"a": some}, samples=True)
    run = evaluate({"a": some}, samples=True, allow_subset=True)
    assert run.counts["a"]["missing"] == 0
    assert run.detail.uncaptioned == 1
    both = evaluate({"a": some, "b": SAMPLES}, samples=True, allow_subset=True)
    assert [both.counts[name]["missing"] for name in both.systems] == [1, 0]
    assert list(run.per_image("a")) == [1, 2]
    with pytest.raises(CaptionError, match="image 3: a list without a caption"):
        evaluate({"a": {**some, 3: []}}, samples=True)


def test_a_system_without_the_chosen_images_is_refused_or_undefined():
    systems = {"a": {1: SAMPLES[1], 2: SAMPLES[2]}, "b": {2: SAMPLES[2], 3: SAMPLES[3]}}
    with pytest.raises(ImageIdError, match="'b, sample 1' has no caption for 1 of 1 images"):
        evaluate(systems, samples=True, image_ids=[1])
    run = evaluate(systems, samples=True, image_ids=[1], allow_subset=True)
    assert run.scores["a"] == evaluate({"a": {1: SAMPLES[1]}}, samples=True, image_ids=[1],
                                       references={1: REFERENCES[1]}).scores["a"]  # fmt: skip
    assert all(map(math.isnan, run.scores["b"].values()))
    assert run.counts["b"]["missing"] == 1


def test_the_best_and_worst_samples_are_named_image_by_image(evaluated, tmp_path):
    pytest.importorskip("pandas")
    plains = [plain(number) for number in range(4)]
    per_image = evaluated.per_image("a")
    for column in ("CIDEr", "VIFIDEL-P", "Bleu_4", "VIFIDEL-Hi", "CHAIRi"):
        for which in ("best", "worst"):
            shown = f"{column} {which}"
            for image_id, of_image in per_image.items():
                sample = of_image[f"{shown} sample"]
                if of_image[shown] is None:
                    assert sample is None
                else:
                    assert plains[sample].per_image("a")[image_id][column] == of_image[shown]
        assert f"{column} mean sample" not in per_image[1]
    assert per_image[1]["VIFIDEL-P worst sample"] == 2  # "it is sunny", which is no dog
    assert per_image[1]["VIFIDEL-P best sample"] == 0  # of equals the first

    evaluated.save(tmp_path / "scores.json")
    again = vifidel_eval.load(tmp_path / "scores.json")
    chosen = {
        image_id: {name: of[name] for name in of if name.endswith(" sample")}
        for image_id, of in per_image.items()
    }
    assert len(chosen[1]) == 2 * len([name for name in evaluated.columns if "best" in name])
    for image_id, of_image in again.per_image("a").items():
        assert {name: of_image[name] for name in chosen[image_id]} == chosen[image_id]
    frame = evaluated.to_dataframe(per_image=True).set_index("image_id")
    assert frame["VIFIDEL-P worst sample"][1] == 2
    for row in csv.DictReader(per_image_csv(evaluated.detail).splitlines()):
        result = {
            name: "" if s is None else str(s) for name, s in chosen[int(row["Image"])].items()
        }
        assert row.items() >= result.items()


def test_inventions_and_words_of_samples_name_the_sample(evaluated):
    alone = {f"a, sample {number + 1}": plain(number) for number in range(4)}
    result = {name: [] for name in alone}
    for invention in evaluated.inventions():
        result[invention.system].append(invention._replace(system="a", said_in=None, answers=None))
    assert result == {name: run.inventions() for name, run in alone.items()}
    assert sum(map(len, result.values())) > 3
    assert evaluated.sentences("a, sample 2") == alone["a, sample 2"].sentences("a")
    assert set(evaluated.to_dataframe(words=True)["system"]) == {*alone}
    with pytest.raises(VifidelError, match=r"no system 'a'. The systems are a, sample 1, a, s"):
        evaluated.sentences("a")
