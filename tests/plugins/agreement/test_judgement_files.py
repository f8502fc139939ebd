"""Judgements of any file: its columns, its lists, and figures equal to SciPy's."""

import csv
import json

import numpy as np
import pytest
from conftest import done
from pycocoevalcap.cider.cider import Cider
from scipy import stats

from vifidel_eval.errors import AnnotationError
from vifidel_eval.plugins.agreement.correlation import views
from vifidel_eval.plugins.agreement.judgements import Columns, read_judgements

WORDS = "dog cat bus table man woman tree car beach ball".split()


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(7)
    built = []
    for number in range(30):
        references = [" ".join(random.permutation(WORDS)[:5]) for _ in range(3)]
        kept = int(random.integers(0, 5))
        caption = " ".join([*references[0].split()[:kept], *random.permutation(WORDS)[: 5 - kept]])
        row = {"imgid": f"{number // 2}.jpg", "mt": caption, "refs": references}
        built.append(row | {"score": round(kept / 5 + random.random() / 2, 3)})
    return built


def table_of(path, rows):
    """Write rows in the container that a path's suffix says."""
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows({**row, "refs": str(row["refs"])} for row in rows)
    elif path.suffix == ".parquet":
        pa = pytest.importorskip("pyarrow")
        picture = [{"bytes": b"", "path": "a.jpg"} for _ in rows]
        table = pa.Table.from_pylist(rows).append_column("img", pa.array(picture))
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        path.write_text("\n".join(map(json.dumps, rows)))
    return path


def renamed(rows, **names):
    return [
        {names.get(key, key): value for key, value in row.items() if names.get(key) != ""}
        for row in rows
    ]


#: The layouts of capevalkit's readers.
LAYOUTS = {
    "polaris_test.csv": {},
    "en_test_composite_da.csv": {"imgid": "image"},
    "rel_dci_test.csv": {"mt": "cand"},
    "polaris.parquet": {"mt": "cand", "score": "human_score", "imgid": ""},
    "nebula.parquet": {"imgid": "file_name", "score": "human_score"},
    "longcap.parquet": {"imgid": "file_name", "mt": "cand"},
    "rows.csv": {"imgid": "id"},  # of the row
    "mine.jsonl": {"mt": "caption", "refs": "references", "score": "rating", "imgid": "image_id"},
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_of_capevalkit_need_no_option(name, rows, tmp_path):
    result = read_judgements(table_of(tmp_path / name, renamed(rows, **LAYOUTS[name])))
    assert result.name == name.partition(".")[0]
    assert [one.captions for one in result.judged] == [(row["mt"],) for row in rows]
    assert [list(one.references) for one in result.judged] == [row["refs"] for row in rows]
    [ratings] = result.ratings.values()
    assert ratings.tolist() == [[row["score"]] for row in rows]
    has_image = LAYOUTS[name].get("imgid") not in ("", "id")
    images = [row["imgid"] for row in rows] if has_image else list(range(len(rows)))
    assert [one.image_id for one in result.judged] == images


def test_the_figures_are_scipys(rows, tmp_path, run):
    rows = [{**row, "half": "ab"[number % 2]} for number, row in enumerate(rows)]
    rows[3]["mt"] = rows[3]["refs"][1]
    path, output = table_of(tmp_path / "rows.csv", rows), tmp_path / "out.json"
    chosen = ("--metrics", "CIDEr,BLEU", "--group-by", "half", "--keep-own", "--output", output)
    done("agreement", "judgements", path, *chosen)
    result = json.loads(output.read_text())
    gts, res = ({n: row[of] for n, row in enumerate(rows)} for of in ("refs", "mt"))
    _, scores = Cider().compute_score(gts, {n: [caption] for n, caption in res.items()})
    ratings = np.array([row["score"] for row in rows])
    for captions, chosen in {"all": slice(None), "half b": slice(1, None, 2)}.items():
        of_captions = [one for one in result["correlations"] if one["captions"] == captions]
        [one] = [one for one in of_captions if one["metric"] == "CIDEr"]
        x, y = scores[chosen], ratings[chosen]
        assert one["coefficients"] == pytest.approx({
            "tau-b": stats.kendalltau(x, y, variant="b").statistic,
            "tau-c": stats.kendalltau(x, y, variant="c").statistic,
            "Spearman": stats.spearmanr(x, y).statistic,
            "Pearson": stats.pearsonr(x, y).statistic,
        })  # fmt: skip
        low, high = one["intervals"]["tau-c"]
        assert low < one["coefficients"]["tau-c"] < high
    assert {"CIDEr", "Bleu_4"} <= result["williams"][0]["p_values"].keys()


def test_lists_of_ratings_several_questions_and_none(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(
        "c,r,fluency,relevance,style\na dog,\"['one','two']\",\"[1, 3]\",4,\n"
        'a cat,only one,"[2, 5]",,\na cow,only one,,3.5,\n'
    )
    message = r"no field has a usual name \(mt, .*\); name one of 'c', .* with --caption-field"
    with pytest.raises(AnnotationError, match=message):
        read_judgements(path)
    columns = Columns("c", "r", ("fluency", "relevance", "style"))
    result = read_judgements(path, columns)
    alone = ("only one",)
    assert [one.references for one in result.judged] == [("one", "two"), alone, alone]
    assert [one.image_id for one in result.judged] == [0, 1, 1]
    fluency, relevance = result.ratings["fluency"], result.ratings["relevance"]
    np.testing.assert_equal(fluency, [[1, 3], [2, 5], [np.nan, np.nan]])
    np.testing.assert_equal(relevance, [[4], [np.nan], [3.5]])
    np.testing.assert_equal(result.ratings["style"], [[np.nan]] * 3)  # which nobody judged


IN_COLUMNS = [
    {"caption": "a dog", "ref1": "one", "ref2": "two", "ref3": "", "ann": 4, "bob": 5},
    {"caption": "a cat", "ref1": "['three', 'four']", "ref2": None, "ref3": "five", "ann": 3},
    {"caption": "a cow", "ref1": "six", "ref2": "seven", "ref3": "eight", "ann": 1, "bob": 2},
]


def test_references_in_several_columns_are_those_of_a_row(write):
    path = write(IN_COLUMNS, "rows.json")
    columns = Columns(references_field=("ref1", "ref2", "ref3"), rating_field=("ann",))
    assert [one.references for one in read_judgements(path, columns).judged] == [
        ("one", "two"), ("three", "four", "five"), ("six", "seven", "eight"),
    ]  # fmt: skip
    by_words = Columns(references_field=("ref1",), rating_field=("ann",), image_field="ref1")
    judged = read_judgements(path, by_words).judged
    assert [one.image_id for one in judged] == ["one", "['three', 'four']", "six"]


def test_judges_in_columns_are_averaged(write, run):
    path = write(IN_COLUMNS, "rows.json")
    columns = Columns(rating_field=("ann", "bob"), judges=True)
    ((_, judges, _, each), (rating, mean, _, means)) = views(read_judgements(path, columns))
    assert (judges, mean, rating) == ("each", "mean", "ann, bob")
    np.testing.assert_equal(each, [[4, 5], [3, np.nan], [1, 2]])
    np.testing.assert_equal(means, [[4.5], [3], [1.5]])
    with pytest.raises(AnnotationError, match="--judges averages several columns of ratings; name"):
        read_judgements(path, Columns(rating_field=("ann",), judges=True))
    fields = [part for name in ("ref1", "ref2", "ref3") for part in ("--references-field", name)]
    judged = ["--rating-field", "ann", "--rating-field", "bob", "--judges"]
    asked = ("--metrics", "CIDEr", "--full")
    result = done("agreement", "judgements", path, *fields, *judged, *asked)
    assert "rows: correlation with the ratings, ann, bob, judges: mean" in result.stdout


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        (("--metrics", "CIDEr"), "CIDEr needs --references-field; give it"),
        ((), "give --references-field, --objects, or both"),
    ],
)
def test_without_references_the_option_that_names_them_is_said(write, run, metrics, expected):
    path = write(IN_COLUMNS, "rows.json")
    result = run("agreement", "judgements", path, "--rating-field", "ann", *metrics)
    assert result.exit_code == 2
    assert expected in result.stderr


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        ([{"mt": "a", "cand": "b", "score": 1}], {},
         "'mt' and 'cand' could each be meant; name one of"),
        ([{"mt": "a", "score": 1}], {"group_by": "kind"},
         "there is no 'kind'; name one of 'mt', 'score' with --group-by"),
        ([{"mt": "a"}], {}, r"no field has a usual name .*; name one of 'mt' with --rating-field"),
        ([{"mt": "a", "score": "good"}], {}, "'score' is 'good'; expected a number"),
        ([{"mt": "a", "score": "inf"}], {}, "'score' is 'inf'; expected a number"),
        ([{"mt": "", "score": 1}], {}, "'mt' is empty; expected text"),
        ([{"mt": "a", "score": [1, 2]}, {"mt": "b", "score": 1}], {},
         r"\[1\]: 'score' is 1; expected 2 ratings"),
        ([{"mt": "a", "score": 1}], {}, "all ratings are the same, so nothing can agree"),
        ([{"mt": "a", "score": 2}, {"mt": "b", "score": 2}], {}, "all ratings are the same"),
        ([], {}, "has no row"),
    ],
)  # fmt: skip
def test_one_sentence_of_what_is_wrong(rows, columns, message, write):
    with pytest.raises(AnnotationError, match=message):
        read_judgements(write(rows), Columns(**columns))
