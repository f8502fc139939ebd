import json
import os

import pytest
from example_files import SIX

CAREFUL, _, REFERENCES, OBJECTS = SIX


@pytest.fixture
def score(run):
    def score(*arguments, references=REFERENCES, objects=OBJECTS, metrics="VIFIDEL"):
        files = ("--references", references, "--objects", objects)
        return run("score", *arguments, *files, *(("--metrics", metrics) if metrics else ()))

    return score


def test_a_comparison_that_cannot_be_leaves_the_scores(write, score):
    captions = json.loads(CAREFUL.read_text("utf-8"))
    first, second = write(captions[:2], "first.json"), write(captions[2:], "second.json")
    output = first.with_name("scores.json")
    result = score(
        first, second, "--allow-subset", "--compare", "--format", "csv", "--output", output
    )
    assert result.exit_code == 1
    assert list(json.loads(output.read_text("utf-8"))["systems"]) == ["first", "second"]
    assert result.stderr.startswith("VIFIDEL|refs:yes|")
    assert result.stderr.splitlines()[1] == (
        "Error: first, second share no image, so there is nothing to compare; "
        "score them on the same images."
    )
    assert len(result.stdout.splitlines()) == 3


def test_a_subset_needs_the_option(write, score):
    results = write([{"image_id": 101, "caption": "two dogs"}])
    refused = score(results)
    assert refused.exit_code == 1
    assert "has no caption for 5 of 6 images, such as 102, 103, 104, ...;" in refused.stderr
    assert "--allow-subset" in refused.stderr
    accepted = score(results, "--allow-subset", "--format", "csv")
    assert accepted.stdout.splitlines()[0].split(",")[2:4] == ["Scored", "Undefined"]
    assert accepted.stdout.splitlines()[1].split(",")[2:4] == ["1", "0"]
    left_out = "Left out: 5 images for which no system has a caption (--allow-subset)."
    assert left_out in accepted.stderr.splitlines()


def test_wrong_options_say_what_to_give(score, run):
    wrong = score(CAREFUL, metrics="VIFIDEL,SPIDER")
    assert wrong.exit_code == 2
    assert "there is no metric 'SPIDER'. Did you mean SPICE? The metrics are VIFIDEL," in (
        wrong.stderr
    )
    no_objects = run("score", CAREFUL, "--references", REFERENCES, "--metrics", "VIFIDEL")
    assert "VIFIDEL needs --objects" in no_objects.stderr
    assert "LM needs --language-model" in score(CAREFUL, metrics="LM").stderr
    assert "lacks the name of a metric" in score(CAREFUL, metrics="WMD,").stderr
    assert "names a metric twice" in score(CAREFUL, metrics="WMD+WMD").stderr
    no_captions = run("score", CAREFUL, "--no-references", "--metrics", "CIDEr")
    assert "CIDEr needs --references" in no_captions.stderr
    assert "--people needs --references" in run("score", CAREFUL, "--people").stderr


def test_without_references_score_says_so_in_one_line_and_goes_on(run):
    given = ("score", CAREFUL, "--objects", OBJECTS, "--metrics", "VIFIDEL")
    plain, shown = run(*given, "--no-references"), run(*given)
    assert (shown.exit_code, shown.stdout) == (0, plain.stdout)
    assert shown.stderr == "No --references given: scoring without them.\n"
    assert plain.stderr == ""
    later = run("score", CAREFUL, "--objects", "gone.json", "--metrics", "VIFIDEL")
    assert later.stderr == "Error: gone.json: no such file or directory; check the path.\n"


def test_a_blank_between_metrics_suggests_a_comma(score, run):
    quoted = score(CAREFUL, metrics="VIFIDEL  Bleu_4")
    assert (quoted.exit_code, "Put commas between metrics: VIFIDEL,Bleu_4." in quoted.stderr) == (
        2,
        True,
    )
    assert "Put commas" not in score(CAREFUL, metrics="VIFIDEL and CIDEr").stderr
    bare = run("score", CAREFUL, "--references", REFERENCES, "--metrics", "WMD", "CIDEr")
    assert bare.exit_code == 2
    assert "CIDEr is a metric, and there is no such file; put commas" in bare.stderr
    assert "between metrics: --metrics WMD,CIDEr." in bare.stderr


def test_without_metrics_all_that_run_here_are_computed(run):
    result = run(
        *("score", CAREFUL, "--references", REFERENCES, "--objects", OBJECTS, "--format", "csv"),
        env={"PATH": ""},  # no Java
    )
    assert result.exit_code == 0
    header, row = result.stdout.splitlines()
    columns = "VIFIDEL,VIFIDEL-P,VIFIDEL-R,VIFIDEL-F,WMD,Bleu_1,Bleu_2,Bleu_3,Bleu_4,ROUGE_L,CIDEr"
    assert header.startswith(f"System,{columns},Scored")
    assert all(float(cell) > 0 for cell in row.split(",")[1:12])
    *signatures, tokens = result.stderr.splitlines()
    assert tokens.startswith("Tokenised without Java (tok:python): on COCO val2017")
    names = ["VIFIDEL", "VIFIDEL-PRF", "WMD", "BLEU", "ROUGE_L", "CIDEr"]
    assert [signature.partition("|")[0] for signature in signatures] == names
    without_references = run("score", CAREFUL, "--no-references", "--objects", OBJECTS, "--full")
    columns = without_references.stdout.split()
    at = columns.index("System")
    assert columns[at : at + 4] == ["System", "VIFIDEL-F", "VIFIDEL-P", "VIFIDEL-R"]
    without_objects = run("score", CAREFUL, "--references", REFERENCES, "--full")
    first_of_rows = [line.split(" ")[0] for line in without_objects.stdout.splitlines()]
    at = first_of_rows.index("Metric")  # turned, to fit
    assert first_of_rows[at + 2 : at + 4] == ["VIFIDEL-F", "VIFIDEL-P"]
    without_both = run("score", CAREFUL, "--no-references")
    assert without_both.exit_code == 2
    assert "nothing to score against: give --references, --objects, or both" in without_both.stderr


def test_info_prints_what_a_bug_report_needs(run):
    result = run("info")
    assert result.exit_code == 0
    names = [line.partition(":")[0] for line in result.stdout.splitlines()]
    for name in ("Python", "vifidel-eval", "POT", "gensim", "embedded vectors", "Java"):
        assert name in names
    rows = [line.split()[:2] for line in result.stdout.splitlines()]
    assert ["VIFIDEL", "yes"] in rows
    assert max(map(len, result.stdout.split("Metric")[1].splitlines())) <= 100
    without_java = run("info", env={"PATH": ""})
    assert "Java: not found" in without_java.stdout


def test_a_metric_that_is_not_available_leaves_the_others(run):
    arguments = ["score", CAREFUL, "--references", REFERENCES, "--format", "json", "--metrics"]
    result = run(*arguments, "METEOR,CIDEr,SPICE,WMD+METEOR", env={"PATH": ""})
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert list(document["signatures"]) == ["CIDEr"]
    assert "|tok:python|" in document["signatures"]["CIDEr"]
    assert list(document["unavailable"]) == ["METEOR", "SPICE", "WMD+METEOR"]
    assert "Java" in document["unavailable"]["METEOR"]
    assert result.stderr.count("not available") == 3
    nothing = run(*arguments, "METEOR", env={"PATH": ""})
    assert nothing.exit_code == 1
    assert "Java" in nothing.stderr


def test_what_concerns_all_systems_and_metrics_is_said_once(write, run):
    objects = write({101: {"n02084071": 1, "dog": 1, "cat": 0}}, "objects.json")
    systems = [write({"101": "a dog"}, f"{name}.json") for name in "ab"]
    given = ("--objects", objects, "--no-references", "--metrics", "VIFIDEL-H,VIFIDEL-PRF")
    message = run("score", *systems, *given).stderr
    assert message.count("no caption can mention 'n02084071'") == 1
    assert "system 'a'" not in message


@pytest.mark.parametrize("chosen", ["", "4"])
def test_matrices_have_one_thread_unless_more_are_asked_for(chosen, monkeypatch, run):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", chosen)
    if not chosen:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    run("formats")
    assert os.environ["OPENBLAS_NUM_THREADS"] == (chosen or "1")
