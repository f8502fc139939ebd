import json
import re

import pytest
from example_files import EXAMPLE

from vifidel_eval.commands.printing import size_of

*RESULTS, REFERENCES, OBJECTS = EXAMPLE
GOLD = ("--references", REFERENCES, "--objects", OBJECTS)
METRICS = ("--metrics", "VIFIDEL,CHAIR,BLEU")


@pytest.fixture(scope="module")
def saved(tmp_path_factory, run):
    """Return two files that `score` wrote, without and with tests."""
    folder = tmp_path_factory.mktemp("scores")
    paths = folder / "scores.json", folder / "compared.json"
    for path, options in zip(paths, ((), ("--compare",)), strict=True):
        result = run("score", *RESULTS, *GOLD, *METRICS, "--output", path, *options)
        assert result.exit_code == 0, result.output
    return paths


@pytest.mark.parametrize("style", ["table", "markdown", "csv", "latex"])
def test_a_baseline_is_shown_alike_by_both(saved, style, tmp_path, run):
    _, compared = saved
    options = ["--baseline", "dreaming", "--format", style]
    output = tmp_path / "scores.json"
    scored = run("score", *RESULTS, *GOLD, *METRICS, *options, "--output", output)
    assert (scored.exit_code, output.read_bytes()) == (0, compared.read_bytes())
    again = run("table", compared, *options)
    written = f"{output}: {size_of(output)}\n"
    assert (again.stdout, again.stderr + written) == (scored.stdout, scored.stderr)
    assert "dreaming" in scored.stdout


def test_a_saved_run_is_compared_as_the_run_itself(saved, run):
    without, compared = saved
    assert run("table", without, "--compare").stdout == run("table", compared).stdout


@pytest.mark.parametrize("style", ["table", "markdown", "latex", "json"])
def test_scores_only_is_the_table_of_scores_alone(saved, style, run):
    without, compared = saved
    options = ["--format", style]
    both = run("table", compared, *options).stdout
    alone = run("table", compared, *options, "--scores-only").stdout
    if style == "json":
        assert alone == run("table", without, *options).stdout
    elif style == "table":
        assert alone == run("table", without, "--scores-only").stdout
    else:
        assert alone[:-1] in both
        assert "Second" not in alone
        assert both != alone


def test_percent_leave_counts_alone_and_take_people_along(tmp_path, run):
    path = tmp_path / "scores.json"
    scored = run(
        "score", *RESULTS, *GOLD, "--metrics", "VIFIDEL-H", "--output", path, "--percent", "--full"
    )
    printed = run("table", path, "--percent", "--full").stdout
    assert scored.stdout == printed
    document = json.loads(path.read_text("utf-8"))
    overall = document["systems"]["dreaming"]["overall"]
    plain = re.sub(r"[*]| ±[.\d]+", "", printed)
    rows = {line.split()[0]: line.split() for line in plain.splitlines() if line.strip()}
    assert rows["Metric"] == ["Metric", "careful", "dreaming"]
    shown = {column: rows[column][2] for column in overall}
    assert shown == {
        column: f"{score if column == 'VIFIDEL-Hn' else 100 * score:.2f}"
        for column, score in overall.items()
    }
    assert "Scores times 100, but not VIFIDEL-Hn." in printed
    rates = document["people"]["rates"]
    assert set(rates) == {"VIFIDEL-Hs", "VIFIDEL-Hi", "VIFIDEL-Hn"}
    for column, rate in rates.items():
        assert f"{column} {rate if column == 'VIFIDEL-Hn' else 100 * rate:.2f}" in printed
    csv = run("table", path, "--percent", "--format", "csv", "--baseline", "careful").stdout
    (gain,) = (line for line in csv.splitlines() if line.startswith("VIFIDEL-Hn,dreaming"))
    assert float(gain.split(",")[-9]) == pytest.approx(
        overall["VIFIDEL-Hn"] - document["systems"]["careful"]["overall"]["VIFIDEL-Hn"]
    )


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (("--columns", "VIFDEL"), 2, "no column 'VIFDEL'. Did you mean 'VIFIDEL'? The columns are"),
        (("--columns", "VIFIDEL,"), 2, "lacks the name of a column before or after a comma"),
        (("--digits", "-1"), 2, "-1 is not in the range 0<=x<=10"),
        (("--format", "json", "--percent"), 2, "leave --percent and --digits out"),
        (("--format", "json", "--digits", "2"), 2, "leave --percent and --digits out"),
        (("--format", "xlsx"), 2, "'xlsx' is not one of"),
        (("--baseline", "careful", "--scores-only"), 2, "leaves out what --baseline shows"),
        (("--baseline", "careful", "--compare"), 2, "--baseline is the short form of --compare"),
        (("--baseline", "carefull"), 2, "Did you mean 'careful'?"),
    ],
)
def test_wrong_options_are_one_sentence(saved, arguments, status, expected, run):
    result = run("table", saved[0], *arguments)
    assert (result.exit_code, result.stdout) == (status, "")
    assert expected in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((*RESULTS, "--columns", "VIFIDEL,CHIARs"), "Did you mean 'CHAIRs'?"),
        ((*RESULTS, "--baseline", "dreamin"), "no system 'dreamin'. Did you mean 'dreaming'? The"),
        ((*RESULTS, "--baseline", "dreaming", "--compare"), "--baseline is the short form of"),
        ((RESULTS[0], "--baseline", "careful"), "'careful' is the only system; give another one"),
        ((*RESULTS, "--compare", "--format", "csv"), "--compare-output FILE.csv"),
        ((RESULTS[0], "--samples", "--people"), "--people needs one caption per image"),
        ((RESULTS[0], "--title", "x"), "--title needs --report."),
        ((RESULTS[0], "--date", "2026-11-23"), "--date needs --leaderboard."),
        ((RESULTS[0], "--output", "-"), "standard output is /dev/stdout, not -."),
    ],
)
def test_wrong_options_are_refused_before_the_work(monkeypatch, arguments, expected, run):
    monkeypatch.setattr("vifidel_eval.run.score_aligned", lambda *_: pytest.fail("work"))
    result = run("score", *GOLD, *METRICS, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert expected in " ".join(result.stderr.split())


def test_systems_are_named(tmp_path, run):
    careful = json.loads(RESULTS[0].read_text("utf-8"))
    for name in ("a=b.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(careful))
    options = (*GOLD, "--metrics", "VIFIDEL", "--format", "json")

    def names(*results):
        result = run("score", *results, *options)
        assert result.exit_code == 0, result.output
        return list(json.loads(result.stdout)["systems"])

    assert names(f"our model={RESULTS[0]}", RESULTS[1]) == ["our model", "dreaming"]
    assert names(f"x={RESULTS[0]}", f"y={RESULTS[1]}") == ["x", "y"]
    # What exists as a whole is the file, as it was before systems had names.
    assert names(tmp_path / "a=b.json") == ["a=b"]
    assert names(f"mine={tmp_path / 'a=b.json'}") == ["mine"]
    explained = run("explain", f"mine={RESULTS[0]}", "--objects", OBJECTS, "--format", "json")
    assert list(json.loads(explained.stdout)["systems"]) == ["mine"]


@pytest.mark.parametrize(
    ("results", "status", "expected"),
    [
        (["a=gone.json"], 1, "gone.json: no such file"),
        (["=gone.json"], 2, "'=gone.json' has no name before '='"),
        (["a="], 2, "the path is empty"),
        ([f"a={RESULTS[0]}", f"a={RESULTS[1]}"], 1, "28 images in both"),
        ([f"dreaming={RESULTS[0]}", RESULTS[1]], 2, "two systems are called 'dreaming'"),
        ([RESULTS[0], RESULTS[0]], 1, "given twice"),
    ],
)
def test_wrong_names_of_systems(results, status, expected, run):
    result = run("score", *results, *GOLD)
    assert result.exit_code == status
    assert expected in result.stderr
    assert "Traceback" not in result.stderr


def test_scores_of_an_earlier_edition_stay_what_they_are(tmp_path, run):
    output, board = tmp_path / "scores.json", tmp_path / "board.json"
    scored = ("score", RESULTS[0], *GOLD, "--metrics", "VIFIDEL-PRF", "--leaderboard", board)
    assert run(*scored, "--output", output).exit_code == 0
    for file in (output, board):  # as version 0.3.0 wrote them
        text = file.read_text("utf-8")
        assert "edition:3" in text
        file.write_text(text.replace("edition:3", "edition:2"), "utf-8")
    shown = run("table", output, "--signatures").stdout
    assert "edition:2" in shown
    assert "edition:3" not in shown
    before = board.read_bytes()
    refused = run(*scored)
    assert refused.exit_code == 1
    assert "has another signature there, edition:2 instead of edition:3;" in refused.stderr
    assert board.read_bytes() == before
