import csv
import io
import json
import math
import re
import shlex
from pathlib import Path

import pytest
from conftest import call
from example_files import ROOT, SIX

import vifidel_eval
from vifidel_eval import Vifidel
from vifidel_eval.captions import read_references
from vifidel_eval.commands.printing import size_of

CAREFUL, DREAMING, REFERENCES, OBJECTS = SIX
CAPTION = "A cat catches a frisbee"


def explain(*arguments, objects=OBJECTS, **settings):
    files = ("--objects", objects) if objects else ()
    return call("explain", *arguments, *files, **settings)


def test_a_caption_of_ones_own():
    shown = explain("--image", 101, "--caption", CAPTION).stdout
    claims = [line.split() for line in shown.splitlines()[3:5]]
    assert shown.startswith("caption, image 101: A cat[!] catches a frisbee\n")
    assert [claim[:3] for claim in claims] == [["!", "cat", "made"], ["+", "frisbee", "there"]]
    assert "Missed: dog, person.\n" in shown
    assert "\nVIFIDEL-F is undefined" in explain("--image", 105, "--caption", CAPTION).stdout
    result = explain("--image", 101, "--caption", CAPTION, "--plan")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout[result.stdout.index("\n\ncaption") + 2 :].splitlines()
    assert lines[0] == f"caption, image 101: {CAPTION}"
    [cat] = [line.split() for line in lines if line.startswith("!")]
    assert cat[1:5] == ["cat", "made", "up", "dog"]
    assert "Made up: cat" in lines
    assert "Missed: dog, person" in lines
    expected = Vifidel(OBJECTS, references=False).explain(101, CAPTION)
    assert f"Distance {expected.distance:.6f}, VIFIDEL {expected.score:.4f}" in lines

    # Each table ends with the distance as its total; the plan comes when it is asked for.
    def totals(text):
        rows = (line.split() for line in text.splitlines())
        return [row[1] for row in rows if row[:1] == ["total"]]

    assert totals(result.stdout) == [f"{expected.distance:.6f}"] * 2
    assert totals(shown) == []


@pytest.mark.parametrize("caption", [CAPTION, "A dog and a zebra on a couch."])
def test_the_parts_of_f_are_those_of_its_scores(caption):
    asked = ("--image", 101, "--caption", caption, "--references", REFERENCES, "--format", "json")
    parts = json.loads(explain(*asked).stdout)["systems"]["caption"]["vifidel_f"]
    references = {101: read_references(REFERENCES)[101]}
    run = vifidel_eval.evaluate({"caption": {101: caption}}, references, OBJECTS, "VIFIDEL-PRF")
    scores = run.scores["caption"]
    assert parts["f"] == pytest.approx(scores["VIFIDEL-F"], abs=1e-9)
    assert parts["r"] == pytest.approx(scores["VIFIDEL-R"], abs=1e-9)
    assert parts["supported"] * parts["kept"] == pytest.approx(scores["VIFIDEL-P"], abs=1e-9)
    assert (parts["kept"] < 1) == ("zebra" in caption or "cat" in caption)


def test_whole_result_files(tmp_path):
    output = tmp_path / "found.json"
    all_words = ("--references", REFERENCES, "--top", 20)
    result = explain(CAREFUL, DREAMING, *all_words, "--output", output)
    assert (result.exit_code, result.stderr) == (0, f"{output}: {size_of(output)}\n")
    document = json.loads(output.read_text("utf-8"))
    careful, dreaming = (document["systems"][name] for name in ("careful", "dreaming"))
    assert careful["hallucinated_words"] == []
    # Image 105 has no objects, but references: what the made-up captions dream up is judged there.
    assert {word["what"] for word in dreaming["hallucinated_words"]} == {
        "skateboard", "pizza", "train", "dog", "airplane", "elephants",
    }  # fmt: skip
    assert [word["what"] for word in dreaming["unconfirmed_words"]] == ["ball", "cheese"]
    assert (dreaming["captions"], dreaming["undefined"]) == (6, 0)
    assert "careful: made up" not in result.stdout
    of_dreaming = result.stdout.partition("\ndreaming: made up\n")[2]
    rows = of_dreaming.partition("\n\n")[0].splitlines()[2:]
    assert len(rows) == len(dreaming["hallucinated_words"])
    for word, row in zip(dreaming["hallucinated_words"], rows, strict=True):
        named = word["what"] + f" ({word['category']})" * (word["category"] != word["what"])
        assert row.startswith(f"{named}  ")
        assert row.split("  ")[0] == named
        assert f" {word['examples'][0]['image_id']}: " in row
        assert row.split()[-3:-1] == [str(word["captions"]), str(word["of"])]
    assert max(map(len, result.stdout.splitlines())) <= 100
    as_json = explain(CAREFUL, DREAMING, *all_words, "--format", "json")
    assert as_json.stdout == output.read_text("utf-8")


def test_formats():
    image = ("--image", 101, "--caption", CAPTION)
    table = list(csv.DictReader(io.StringIO(explain(*image, "--format", "csv").stdout)))
    distance = Vifidel(OBJECTS, references=False).explain(101, CAPTION).distance
    total = math.fsum(float(row["Mass x cost"]) for row in table)
    assert total == pytest.approx(distance, rel=1e-8)
    result = csv.DictReader(io.StringIO(explain(DREAMING, "--format", "csv", "--top", 1).stdout))
    assert [row["Finding"] for row in result] == ["made up", "missed", "unconfirmed"]
    assert "| !  | cat " in explain(*image, "--format", "markdown").stdout
    latex = explain(*image, "--format", "latex").stdout
    assert latex.count("\\toprule") == 1
    assert all(line.startswith(("%", "\\", " ")) for line in latex.splitlines() if line)


def test_colours_only_on_a_terminal():
    image = ("--image", 101, "--caption", CAPTION)
    assert "\x1b[" not in explain(*image).stdout
    shown = explain(*image, color=True).stdout
    assert "\x1b[31m!   cat " in shown
    assert "\x1b[32m+   frisbee " in shown
    shown = explain(DREAMING, color=True).stdout
    red = re.findall("\x1b\\[31m(\\w+) ", shown.partition("missed")[0])
    assert "skateboard" in red
    assert "\x1b[31mperson" not in shown


def test_the_support_is_an_option_without_objects_too():
    given = ("--image", 101, "--caption", CAPTION, "--references", REFERENCES, "--format", "json")
    result = {}
    for support in (0.01, 1):
        shown = explain(*given, "--support", support, objects=None)
        document = json.loads(shown.stdout)
        assert document["thresholds"]["support"] == support
        assert f"|support:{support:g}|" in document["signature"]
        result[support] = document["systems"]["caption"]["hallucinated"]
    # References name a frisbee and no cat, which has some likeness to the dog.
    assert result == {0.01: [], 1: ["cat"]}


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ((), 2, "give result files, or --image ID and --caption TEXT."),
        (("--image", 101), 2, "give result files, or --image ID and --caption TEXT."),
        ((CAREFUL, "--plan"), 2, "--plan needs --image."),
        ((CAREFUL, "--drop-incomplete"), 2, "--drop-incomplete needs --metric CHAIR."),
        ((CAREFUL, "--things", CAREFUL, "--metric", "CHAIR"), 2, "--things needs --metric"),
        ((CAREFUL, "--far", ".3", "--metric", "CHAIR"), 2, "--far needs --metric VIFIDEL-H."),
        (("--caption", "x"), 2, "--caption needs --image, and takes no result files."),
        ((CAREFUL, "--image", 101, "--caption", "x"), 2, "--caption needs --image, and"),
        (("--image", 999, "--caption", "a cat"), 1, "lacks 1 image id of the captions: 999"),
        ((CAREFUL, "--image", 999), 1, "system 'careful' lacks 1 image id of --image: 999"),
        (("--image", 999, "--caption", "x", "--references", REFERENCES), 1,
         "the reference side lacks 1 image id of --image: 999"),
        (("none.json",), 1, "none.json: no such file or directory; check the path."),
        ((CAREFUL, "--output", CAREFUL), 1, "the output would replace an input"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(arguments, status, message):
    result = explain(*arguments)
    assert result.exit_code == status
    assert message in result.stderr.splitlines()[-1]
    assert result.stdout == ""


def test_references_alone_are_evidence():
    shown = explain("--image", 101, "--caption", CAPTION, "--references", REFERENCES, objects=None)
    assert shown.exit_code == 0
    assert "made up  no reference mentions it" in shown.stdout.replace("made up    ", "made up  ")
    assert "Missed" not in shown.stdout
    document = json.loads(
        explain(DREAMING, "--references", REFERENCES, "--format", "json", objects=None).stdout
    )
    dreaming = document["systems"]["dreaming"]
    assert document["signature"].startswith("VIFIDEL-H|refs:yes|objects:rows|")
    assert (dreaming["objects"], dreaming["unmentioned_objects"]) == (0, [])
    assert dreaming["mentions"] == dreaming["judged"] > dreaming["not_in_image"] > 0


# --- Everything that is made up ---


def rows_of(path):
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl":
        return list(map(json.loads, text.splitlines()))
    rows = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        row |= {name: int(row[name]) for name in ("image_id", "sentence", "start", "end")}
        row |= {"support": float(row["support"]) if row["support"] else None}
        row |= {"evidence": row["evidence"] or None}
    return rows


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".CSV"])
@pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")
def test_inventions_are_the_rows_of_a_run(tmp_path, suffix):
    path = tmp_path / f"all{suffix}"
    given = ("--references", REFERENCES, "--inventions", path)
    assert explain(CAREFUL, DREAMING, *given).exit_code == 0
    run = vifidel_eval.evaluate([CAREFUL, DREAMING], REFERENCES, OBJECTS, metrics="VIFIDEL")
    expected = [row.to_json() for row in run.inventions()]
    assert len(expected) > 5
    assert rows_of(path.rename(tmp_path / f"all{suffix.lower()}")) == expected
    captions = {c["image_id"]: c["caption"] for c in json.loads(DREAMING.read_text("utf-8"))}
    for row in expected:
        assert captions[row["image_id"]][row["start"] : row["end"]].lower() == row["word"]
    of_one = tmp_path / "one.jsonl"
    explain(DREAMING, "--references", REFERENCES, "--image", 101, "--inventions", of_one)
    assert rows_of(of_one) == [row for row in expected if row["image_id"] == 101]


def test_the_page_on_hallucination_shows_the_rows_that_are_written(monkeypatch, tmp_path):
    page = (ROOT / "docs/hallucination.md").read_text("utf-8")
    section = page.partition("## Everything that is made up")[2]
    (command,) = re.findall(r"\$ vifidel-eval (explain .*? --top 2)", section, re.S)
    (rows,) = re.findall(r"```text\n(.*?)```", section.partition("\n## ")[0], re.S)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    assert call(*shlex.split(command.replace("\\\n", ""))).exit_code == 0
    assert Path("inventions.csv").read_text("utf-8").startswith(rows)
    for line in rows.splitlines()[0].split(","):
        assert f"`{line}`" in section


def test_a_file_of_inventions_says_by_its_name_how_it_is_written(tmp_path):
    result = explain(DREAMING, "--inventions", tmp_path / "all.xlsx")
    assert result.exit_code == 2
    assert "all.xlsx: give a name that ends in .csv or .jsonl." in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("references", [(), ("--references", REFERENCES)])
@pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")
def test_chair_s_verdicts_are_those_it_counts(tmp_path, references):
    path = tmp_path / "chair.jsonl"
    given = (DREAMING, *references, "--metric", "chair", "--format", "json", "--inventions", path)
    result = explain(*given)
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    run = vifidel_eval.evaluate(
        [DREAMING], REFERENCES if references else None, OBJECTS, metrics="CHAIR"
    )
    scores, results = run.scores["dreaming"], document["systems"]["dreaming"]
    assert results["not_in_image"] / results["mentions"] == scores["CHAIRi"]
    assert results["hallucinating"] / results["captions"] == scores["CHAIRs"]
    assert len(rows_of(path)) == results["not_in_image"]
    assert {row["support"] for row in rows_of(path)} == {None}
    assert document["signature"].startswith("CHAIR|synonyms:coco_synonyms#")
    assert "thresholds" not in document
    table = explain(*given[:-4], "--image", 101).stdout
    assert "!   skateboard" in table


# --- Sentences ---

SENTENCES = (
    "A cat sleeps on a couch next to a zebra. There is no couch on the left, and no train. The "
    "mood is calm."
)


def sentences_of(tmp_path, caption, *options):
    objects = tmp_path / "objects.json"
    objects.write_text('{"1": ["cat", "couch"]}', "utf-8")
    result = explain("--image", 1, "--caption", caption, *options, objects=objects)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_sentences_of_a_text_are_a_table_and_a_wrong_denial_is_told(tmp_path):
    shown = sentences_of(tmp_path, SENTENCES)
    assert "next to a zebra[!]. There is no couch[!] on the left" in " ".join(shown.split())
    table = shown.partition("\nSentences\n")[2].splitlines()
    assert "zebra (34-39)" in table[2]
    assert "couch (53-58, a wrong denial)" in table[3]
    assert table[3].split()[-1] == "-"
    assert max(map(len, shown.splitlines())) <= 100
