import pickle
from collections import Counter
from contextlib import nullcontext

import numpy as np
import pytest
from table_corpus import corpus, expected

from vifidel_eval import VectorsError, VifidelError, VifidelWarning
from vifidel_eval.kernels import bags, lexicon
from vifidel_eval.words.word_vectors import Tally

pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")

from vifidel_eval.plugins.tables import scorer  # noqa: E402
from vifidel_eval.plugins.tables.file_scoring import add_up  # noqa: E402
from vifidel_eval.plugins.tables.folder_runs import judge  # noqa: E402
from vifidel_eval.tables import STATUSES, TableScorer  # noqa: E402

METRICS = ("VIFIDEL", "VIFIDEL-PRF", "VIFIDEL-H", "WMD")
ROWS = corpus(60)


def columns_of(scores):
    """Return the columns of scores as arrays, NaN where null."""
    return {
        field.name.replace("_", "-"): column.to_numpy(zero_copy_only=False)
        for field, column in zip(scores.type, scores.flatten(), strict=True)
        if field.name != "status"
    }


def assert_same_bits(scores, wanted):
    result = columns_of(scores)
    for name, column in wanted.items():
        assert result[name].tobytes() == np.where(np.isnan(column), np.nan, column).tobytes(), name


def table(rows=ROWS, references=True):
    columns = {"caption": rows.captions, "labels": rows.labels}
    if references:
        columns["references"] = rows.references
    return pa.table(columns)


RAW = pytest.mark.filterwarnings("ignore:VIFIDEL is below 1e-06:vifidel_eval.VifidelWarning")


@pytest.mark.parametrize(
    ("metric", "references", "settings"),
    [
        *((metric, True, {}) for metric in METRICS),
        *((metric, False, {}) for metric in METRICS[:3]),
        *(("VIFIDEL", r, {"counts": False}) for r in (True, False)),
        *(("VIFIDEL", r, {"p": 1}) for r in (True, False)),
        ("WMD", True, {"p": 2}),
        ("WMD", True, {"normalize": False}),
        *(("VIFIDEL", r, {"normalize": False}) for r in (True, False)),
    ],
)
@RAW
def test_the_bits_of_compute_score(metric, references, settings):
    scores = TableScorer(metrics=[metric], **settings).score(
        ROWS.captions, ROWS.labels, ROWS.references if references else None
    )
    assert_same_bits(scores, expected(metric, ROWS, references, **settings))


def test_references_are_for_the_metrics_that_read_them():
    labels = [{**dict.fromkeys(of_row, 1), "umbrella": 0} for of_row in ROWS.labels]
    without, beside = (
        TableScorer("VIFIDEL-D").score(ROWS.captions, labels, references).field("VIFIDEL_D")
        for references in (None, ROWS.references)
    )
    assert without.null_count < len(ROWS)
    assert without.equals(beside)


@RAW
def test_raw_vectors_are_for_the_metrics_that_travel():
    rows = TableScorer(METRICS, references="references", normalize=False)
    result = rows.evaluate(table())
    for metric in METRICS:
        raw = {"normalize": False} if metric in ("VIFIDEL", "WMD") else {}
        assert_same_bits(result.fields, expected(metric, ROWS, True, **raw))
    scaled = TableScorer(METRICS, references="references").evaluate(table())
    assert (result.statuses, result.tallies) == (scaled.statuses, scaled.tallies)
    signatures = rows.signature().split("; ")
    assert ["norm:no" in signature for signature in signatures] == [True, False, False, True]


@pytest.fixture(scope="module")
def whole():
    """Return a scorer of all metrics, and what it says of all rows at once."""
    rows = TableScorer(METRICS, references="references")
    return rows, rows.evaluate(table()).fields


@pytest.mark.parametrize("size", [1, 7, 1024])
def test_any_batches_in_any_order(whole, size):
    rows, target = whole
    order = np.random.default_rng(size).permutation(len(ROWS))
    batches = table().take(order).combine_chunks().to_batches(max_chunksize=size)
    parts = [rows.evaluate(batch).fields for batch in batches]
    assert pa.concat_arrays(parts).equals(target.take(pa.array(order)))


def test_few_rows_bytes_pairs_and_words_at_once(whole, monkeypatch):
    monkeypatch.setattr(scorer, "_ROWS_AT_ONCE", 11)
    monkeypatch.setattr(scorer, "_BYTES_AT_ONCE", 700)
    monkeypatch.setattr(bags, "PAIRS_AT_ONCE", 100)
    monkeypatch.setattr(lexicon, "CAPACITY", 10)
    monkeypatch.setattr(lexicon, "_SPACES", {})  # share no words with a scorer made before
    rows = TableScorer(METRICS, references="references")
    for _ in range(2):
        assert rows.evaluate(table()).fields.equals(whole[1])


def test_it_pickles_as_its_settings(whole):
    rows, target = whole
    pickled = pickle.dumps(rows)
    assert len(pickled) < 1000
    again = pickle.loads(pickled)
    assert again.evaluate(table()).fields.equals(target)
    assert again.signature() == rows.signature()
    other = pickle.loads(pickle.dumps(TableScorer(stop_words=("dog",), threshold=0.3, p=1)))
    assert "p:1" in other.signature()
    assert "stop:1#" in other.signature()


def test_columns_are_added():
    rows = TableScorer(("VIFIDEL", "VIFIDEL-PRF"), references="references")
    added = ["VIFIDEL", "distance", "VIFIDEL_P", "VIFIDEL_R", "VIFIDEL_F", "status"]
    assert [field.name for field in rows.type] == added
    given = table().replace_schema_metadata({"made": "here"})
    for batch in (given, given.to_batches()[0]):
        scored = rows(batch)
        assert type(scored) is type(batch)
        assert scored.schema.names == [*batch.schema.names, *added]
        assert scored.schema.metadata == {b"made": b"here"}
        assert scored.select(batch.schema.names).equals(batch)
        fields = rows.evaluate(batch).fields
        assert scored.column("VIFIDEL_F").to_pylist() == fields.field("VIFIDEL_F").to_pylist()
    with pytest.raises(VifidelError, match="already has a column 'VIFIDEL'"):
        rows(rows(given))
    with pytest.raises(VifidelError, match="more than one column 'caption'"):
        rows(given.append_column("caption", given["caption"]))


def test_the_distance_is_what_the_score_follows_from(whole):
    _, scores = whole
    distance, score = (columns_of(scores)[name] for name in ("distance", "VIFIDEL"))
    assert (score > 0).sum() > 20
    assert np.array_equal(np.exp(-distance)[score > 0], score[score > 0])
    assert np.isnan(distance[score == 0]).all()


def test_no_rows():
    for chunks in ([], table().slice(0, 0).to_batches()):
        scored = TableScorer()(pa.Table.from_batches(chunks, schema=table().schema))
        assert scored.num_rows == 0
        assert scored.schema.names[-1] == "status"
    assert len(TableScorer(METRICS).score([], [], [])) == 0


@pytest.mark.parametrize(
    ("columns", "settings", "message"),
    [
        ({"caption": ["a"]}, {}, "has no column 'labels'; its columns are caption"),
        ({"caption": [1], "labels": [["a"]]}, {}, "'caption' is of type int64; captions are"),
        ({"caption": ["a"], "labels": [1]}, {}, "'labels' is of type int64; labels are"),
        ({"caption": ["a"], "labels": [{"dog": 1}]}, {}, "which JSON Lines and CSV have as text"),
        ({"caption": ["a"], "labels": [["a"]], "refs": ["a"]}, {"references": "refs"},
         "'refs' is of type string; references are a list"),
        ({"caption": ["a"], "labels": [["a"]]}, {"metrics": "WMD"}, "WMD needs references"),
        ({"caption": ["a"]}, {"labels": None}, "VIFIDEL needs object labels"),
        ({"caption": ["a"]}, {"metrics": "PRF", "labels": None}, "needs object labels or ref"),
        ({"caption": ["a"], "labels": [["a"]], "s": [["a"]]}, {"label_scores": "s"},
         r"are of types list<.*> and list<.*>; give a list of strings and a list of numbers"),
        ({"caption": ["a"], "s": [[0.5]]}, {"label_scores": "s", "labels": None}, "VIFIDEL needs"),
        ({"caption": ["a"], "r": [["a"]], "s": [[0.5]]},
         {"label_scores": "s", "labels": None, "references": "r", "metrics": "WMD"},
         "'s' holds the scores of labels, but no column holds labels"),
    ],
)  # fmt: skip
def test_a_column_that_is_missing_or_of_a_wrong_type(columns, settings, message):
    with pytest.raises(VifidelError, match=message):
        TableScorer(**settings).check(pa.table(columns).schema)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metrics": ["CIDEr"]}, "CIDEr does not score tables; these do: VIFIDEL, VIFIDEL-PRF"),
        ({"metrics": []}, "at least one metric"),
        ({"metrics": [3]}, "metrics are names, not 3"),
        ({"threshold": 2}, "threshold 2 is not a number between 0 and 1"),
        ({"max_words": 0}, "max_words must be a whole number of at least 1"),
        ({"p": 3}, "p must be 1 or 2"),
    ],
)
def test_wrong_settings(arguments, message):
    with pytest.raises(VifidelError, match=message):
        TableScorer(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a", "b"], [["a"]]), "2 captions and 1 rows of labels"),
        (("a dog", [["dog"]]), "captions must be a column or a sequence"),
        ((["a"], {"dog": 1}), "labels must be a column or a sequence"),
        ((["a"], [["dog"]], None, [0.5]), "are of types"),
        ((["a"], [["dog"]], None, ["x", 3]), "label_scores must be a list of numbers per row"),
    ],
)
def test_wrong_sequences(arguments, message):
    with pytest.raises(VifidelError, match=message):
        TableScorer().score(*arguments)


def test_a_run_is_judged_on_its_sums():
    rows = TableScorer()
    parts = [rows.evaluate(batch) for batch in table().to_batches(max_chunksize=7)]
    statuses = sum((part.statuses for part in parts), start=Counter())
    assert statuses == rows.evaluate(table()).statuses
    assert set(statuses) <= set(STATUSES)
    assert statuses.total() == len(ROWS)
    unknown = {"captions": Tally(100, Counter(xx=95))}
    for words, message in (({}, None), (unknown, "95 of 100 words of the captions have no vector")):
        totals = {**add_up([]), "rows": len(ROWS), "statuses": statuses, "words": words}
        with nullcontext() if message is None else pytest.raises(VectorsError, match=message):
            judge(totals, rows.vectors)
    with pytest.warns(VifidelWarning, match=r"none of the 2 rows .* \(2 no objects\)"):
        judge({**add_up([]), "rows": 2, "statuses": {"no objects": 2}}, rows.vectors)
    judge(add_up([]), rows.vectors)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_data_frames_get_the_columns_of_their_table(kind):
    library = pytest.importorskip(kind)
    whole = TableScorer(references="references")(table())
    frame = whole.select(["caption", "labels", "references"]).to_pandas()
    frame.index = frame.index[::-1]  # pandas would join columns by it
    scored = TableScorer(references="references")(
        frame if kind == "pandas" else library.from_pandas(frame)
    )
    assert type(scored) is library.DataFrame
    for name in ("VIFIDEL", "status"):
        target = whole[name].to_numpy(zero_copy_only=False)
        np.testing.assert_array_equal(scored[name].to_numpy(), target)
    with pytest.raises(VifidelError, match=r"or a DataFrame of pandas or polars, not \[1, 2\]"):
        TableScorer()([1, 2])
