from decimal import Decimal

import numpy as np
import pytest
from table_corpus import corpus, counted, expected

from vifidel_eval import AnnotationError

pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")

from vifidel_eval.tables import TableScorer  # noqa: E402

ROWS = corpus(25, seed=3)
TEXT = pa.string()
LISTS = [
    pa.list_(TEXT),
    pa.large_list(pa.large_string()),
    pa.list_view(TEXT),
    pa.large_list_view(TEXT),
    pa.list_(pa.dictionary(pa.int32(), TEXT)),
    pa.large_list(pa.dictionary(pa.int8(), pa.large_string())),
    pa.list_(pa.string_view()),
]


@pytest.fixture(scope="module")
def wanted():
    scores = expected("VIFIDEL", ROWS, references=False)["VIFIDEL"]
    return np.where(np.isnan(scores), np.nan, scores)  # one sign of NaN


def score(labels, scores=None, **settings):
    result = TableScorer(**settings).score(ROWS.captions, labels, label_scores=scores)
    assert set(result.field("status").to_pylist()) <= {"ok", "no claim", "no objects"}
    return result.field("VIFIDEL").to_numpy(zero_copy_only=False)


def assert_reads(labels, wanted, scores=None):
    """Assert that labels are read, also from the middle of a column and from chunks."""
    assert score(labels, scores).tobytes() == wanted.tobytes()
    if isinstance(labels, pa.Array) and scores is None:
        inside = pa.concat_arrays([labels.slice(2), labels, labels.slice(0, 3)])
        inside = inside.slice(len(ROWS) - 2, len(ROWS))
        assert score(inside).tobytes() == wanted.tobytes()
        chunks = pa.chunked_array([labels.slice(0, 4), labels.slice(4)])
        assert score(chunks).tobytes() == wanted.tobytes()


@pytest.mark.parametrize("kind", LISTS, ids=str)
def test_lists_of_strings(kind, wanted):
    assert_reads(pa.array(ROWS.labels, kind), wanted)


def test_lists_of_one_length():
    kind = pa.list_(TEXT, 2)
    result = TableScorer().score(["a dog"] * 3, pa.array([["dog", "cat"], None, ["dog"] * 2], kind))
    assert result.field("status").to_pylist() == ["ok", "no objects", "ok"]
    assert result.field("VIFIDEL")[2].as_py() == 1.0


def detections(label, score, high, low):
    return [
        [{label: name, score: high} for name in labels] + [{label: "zebra", score: low}]
        for labels in ROWS.labels
    ]


@pytest.mark.parametrize(
    ("label", "score", "text"),
    [("label", "score", TEXT), ("name", "confidence", pa.dictionary(pa.int16(), TEXT))],
)
@pytest.mark.parametrize(
    ("kind", "high", "low"),
    [
        (pa.float64(), 0.6, 0.59),
        (pa.float32(), 0.61, 0.5),
        (pa.float16(), np.float16(0.9), np.float16(0.5)),
        (pa.int8(), 1, 0),
        (pa.decimal128(3, 2), Decimal("0.60"), Decimal("0.59")),
    ],
    ids=str,
)
def test_detections(label, score, kind, high, low, text, wanted):
    box = ("box", pa.list_(pa.float32()))
    struct = pa.struct([box, (label, text), (score, kind)])
    assert_reads(pa.array(detections(label, score, high, low), pa.list_(struct)), wanted)


def test_two_lists(wanted):
    names = [[*labels, "zebra"] for labels in ROWS.labels]
    scores = [[0.9] * len(labels) + [0.1] for labels in ROWS.labels]
    assert_reads(pa.array(names), wanted, pa.array(scores, pa.large_list(pa.float32())))
    assert_reads(names, wanted, [np.array(of_row) for of_row in scores])
    together = [
        {"labels": labels, "scores": of_row, "boxes": None}
        for labels, of_row in zip(names, scores, strict=True)
    ]
    assert_reads(pa.array(together), wanted)
    assert_reads(together, wanted)
    table = pa.table({"caption": ROWS.captions, "labels": names, "s": scores})
    result = TableScorer(label_scores="s")(table).column("VIFIDEL").to_numpy()
    assert np.array_equal(result, wanted, equal_nan=True)


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint8(), pa.uint64(), pa.int32()], ids=str)
def test_maps_of_label_to_count(kind, wanted):
    with_none = [[*of_row, ("zebra", 0)] for of_row in counted(ROWS)]
    assert_reads(pa.array(with_none, pa.map_(TEXT, kind)), wanted)


def test_what_pandas_delivers(wanted):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    for array in (np.array, lambda labels: np.array(labels, dtype=object)):
        assert_reads(pandas.Series([array(labels) for labels in ROWS.labels]), wanted)
    frame = pa.table({"caption": ROWS.captions, "labels": ROWS.labels}).to_pandas()
    result = TableScorer().score(frame["caption"], frame["labels"])
    assert result.field("VIFIDEL").to_numpy(zero_copy_only=False).tobytes() == wanted.tobytes()
    missing = pandas.Series(["a dog", None, float("nan")], dtype=object)
    assert statuses(TableScorer().score(missing, [["dog"]] * 3)) == ["ok", *["bad caption"] * 2]


@pytest.mark.parametrize(
    "kind", [TEXT, pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), TEXT)], ids=str
)
def test_captions_and_references_of_any_string_type(kind):
    target = TableScorer().score(ROWS.captions, ROWS.labels, ROWS.references)
    for lists in (pa.list_, pa.large_list):
        references = pa.array(ROWS.references, lists(kind))
        assert TableScorer().score(pa.array(ROWS.captions, kind), ROWS.labels, references) == target


def statuses(scores):
    return scores.field("status").to_pylist()


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_a_threshold_compares_in_the_precision_of_the_column(kind):
    numbers = [np.dtype(kind.to_pandas_dtype()).type(number) for number in (0.7, 0.69)]
    struct = pa.struct([("label", TEXT), ("score", kind)])
    labels = pa.array([[{"label": "dog", "score": number}] for number in numbers], pa.list_(struct))
    result = TableScorer(threshold=0.7).score(["a dog"] * 2, labels)
    assert statuses(result) == ["ok", "no objects"]


def test_a_label_written_in_two_ways_counts_twice():
    two = TableScorer().score(["a dog"], [["fire_hydrant", "Fire hydrant", "dog", "N/A"]])
    one = TableScorer().score(["a dog"], pa.array([[("fire hydrant", 2), ("dog", 1)]], MAP))
    assert two == one
    presence = TableScorer(counts=False)
    written = [["fire_hydrant", "Fire hydrant", "dog"], ["fire hydrant", "dog"]]
    one, two = presence.score(["a dog"] * 2, written)
    assert one == two


MAP = pa.map_(TEXT, pa.int64())
SCORED = pa.list_(pa.struct([("label", TEXT), ("score", pa.float64())]))


def scored(*pairs):
    return [{"label": label, "score": number} for label, number in pairs]


BAD = [
    (["dog", None], pa.list_(TEXT), r"found None; expected a label"),
    (["dog", "  "], pa.list_(TEXT), "found '  '; expected a label"),
    (["dog", "_"], pa.list_(TEXT), "the label '_' has no word in it"),
    (["x" * 1001], pa.list_(TEXT), "has 1001 characters"),
    (scored(("dog", None)), SCORED, "score None is not"),
    (scored(("dog", float("nan"))), SCORED, "score nan is not a number"),
    (scored(("dog", float("inf"))), SCORED, "score inf is not a number"),
    (scored(("dog", -0.1)), SCORED, "score -0.1 is negative"),
    (scored(("dog", 90.0)), SCORED, "score 90.0 is above 1"),
    (scored((None, 0.1)), SCORED, "found"),
    (scored(("", 0.1)), SCORED, "found"),
    ([None], SCORED, "found None"),
    ([("dog", -1)], MAP, "is negative"),
    ([("dog", 2**53 + 2)], MAP, r"above 2\*\*53"),
    ([(" ", 1)], MAP, "expected a label"),
]


@pytest.mark.parametrize(("labels", "kind", "message"), BAD)
def test_bad_labels(labels, kind, message):
    column = pa.array([None, labels, []], kind)
    result = TableScorer().score(["a dog"] * 3, column)
    assert statuses(result) == ["no objects", "bad labels", "no objects"]
    # What it says of a sequence, it says of a column.
    with pytest.raises(AnnotationError, match="row 1: .*" + message):
        TableScorer(strict=True).score(["a dog"] * 3, column)


def test_what_is_below_the_threshold_may_be_called_anything():
    labels = pa.array([scored(("dog", 0.9), ("_", 0.1), ("x" * 1001, 0.1))], SCORED)
    assert TableScorer().score(["a dog"], labels).field("VIFIDEL").to_pylist() == [1.0]


def test_two_lists_of_different_length():
    names, scores = [["dog"], ["dog", "cat"], ["dog"]], [[0.9], [0.9], [0.9]]
    for kind in LISTS:
        column = pa.array(names, kind)
        of_kind = TableScorer().score(["a dog"] * 3, column, label_scores=pa.array(scores))
        assert statuses(of_kind) == ["ok", "bad labels", "ok"]
    result = TableScorer().score(["a dog"] * 3, names, label_scores=scores)
    assert statuses(result) == ["ok", "bad labels", "ok"]
    assert result.field("VIFIDEL").to_pylist() == [1.0, None, 1.0]
    missing = pa.array([[0.9], [0.9, None], [0.9]])
    with pytest.raises(AnnotationError, match="row 1: item 1: score None is not a number"):
        TableScorer(strict=True).score(["a dog"] * 3, pa.array(names), label_scores=missing)
    with pytest.raises(AnnotationError, match="row 1: it has 2 labels and 1 scores"):
        TableScorer(strict=True).score(["a dog"] * 3, names, label_scores=scores)


def test_a_column_of_nulls_says_nothing():
    assert statuses(TableScorer().score(["a dog"] * 2, pa.nulls(2))) == ["no objects"] * 2
    assert statuses(TableScorer().score(["a dog"] * 2, [[], []])) == ["no objects"] * 2
    labels = pa.array([None, []], pa.list_(TEXT))
    result = TableScorer().score(["a dog"] * 2, labels, label_scores=pa.nulls(2))
    assert statuses(result) == ["no objects"] * 2
