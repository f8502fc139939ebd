import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vifidel_eval import CaptionError, MetricUnavailable
from vifidel_eval.captions.rows import MOST_CHARACTERS

pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")

from vifidel_eval.tables import TableScorer  # noqa: E402

ALL = ("VIFIDEL", "VIFIDEL-PRF", "VIFIDEL-H", "WMD")
LONG = "dog " * (MOST_CHARACTERS // 4 + 1)
MANY = " ".join(f"word{number}" for number in range(60))


def row(caption="a dog", labels=("dog",), references=("a puppy",), metrics=ALL, **settings):
    """Return what is said of one row."""
    captions = pa.array([caption], pa.string())
    labels = pa.array([labels], pa.list_(pa.string()))
    references = None if references is False else pa.array([references], pa.list_(pa.string()))
    (of_row,) = TableScorer(metrics, **settings).score(captions, labels, references).to_pylist()
    return of_row


def scored(of_row):
    """Return which metrics have a score."""
    columns = ("VIFIDEL", "VIFIDEL_F", "VIFIDEL_T", "WMD")
    named = zip(ALL, columns, strict=True)
    return [name for name, column in named if of_row.get(column) is not None]


# In these vectors only few words are known.
@pytest.fixture
def few_words(tmp_path):
    path = tmp_path / "few.txt"
    path.write_text("dog 1 0\ncat 0 1\npuppy 0.9 0.1\n")
    return str(path)


@pytest.mark.parametrize(
    ("changes", "status", "with_score"),
    [
        ({}, "ok", ALL),
        ({"references": False, "metrics": ALL[:3]}, "ok", ALL[:3]),
        ({"references": [], "metrics": ["VIFIDEL"]}, "unweighted", ["VIFIDEL"]),
        ({"references": None, "metrics": ["VIFIDEL"]}, "unweighted", ["VIFIDEL"]),
        ({"references": ["!!"], "metrics": ["VIFIDEL"]}, "unweighted", ["VIFIDEL"]),
        ({"references": [], "metrics": ALL[:3]}, "unweighted", ALL[:3]),
        ({"caption": "", "metrics": ALL[:2]}, "no claim", ALL[:2]),
        ({"caption": "", "references": []}, "no references", ALL[:2]),
        ({"labels": []}, "no objects", ALL[1:]),
        ({"labels": None}, "no objects", ALL[1:]),
        ({"labels": ["N/A"]}, "no objects", ALL[1:]),
        ({"labels": [], "metrics": ALL[1:]}, "ok", ALL[1:]),
        ({"labels": [], "caption": ""}, "no objects", ["VIFIDEL-PRF", "WMD"]),
        ({"references": []}, "no references", ALL[:3]),
        ({"references": None}, "no references", ALL[:3]),
        ({"labels": [], "references": []}, "no references", []),
        ({"labels": [], "references": False, "metrics": ["VIFIDEL-PRF"]}, "no objects", []),
        ({"references": ["!!"]}, "no known words", ALL[:3]),
        ({"caption": LONG}, "too long", []),
        ({"references": ["a dog", LONG]}, "too long", []),
        ({"references": [LONG], "metrics": ["VIFIDEL"]}, "too long", []),
        ({"caption": MANY, "max_words": 50}, "too long", []),
        ({"caption": MANY, "max_words": 60}, "ok", [*ALL[:2], "WMD"]),
        ({"labels": MANY.split(), "max_words": 50}, "too long", ["WMD"]),
        ({"references": [MANY], "max_words": 50}, "too long", []),
        ({"caption": MANY, "references": [MANY] * 60, "max_words": 60}, "too long", []),
        ({"caption": None}, "bad caption", []),
        ({"caption": None, "labels": [None]}, "bad labels", []),
        ({"caption": LONG, "labels": [None]}, "bad labels", []),
        ({"labels": ["dog", None]}, "bad labels", ["WMD"]),
        ({"labels": [None], "metrics": ["WMD"]}, "ok", ["WMD"]),
        ({"references": ["a dog", None]}, "bad references", []),
        ({"references": [None], "labels": [None], "caption": None}, "bad references", []),
    ],
)
def test_status_and_scores_metric_by_metric(changes, status, with_score):
    result = row(**changes)
    assert result["status"] == status
    assert scored(result) == list(with_score)


LONGEST = "dog " * (MOST_CHARACTERS // 4)


@pytest.mark.parametrize(
    ("field", "longest", "longer"),
    [
        ("caption", LONGEST, LONGEST + " "),
        ("references", [LONGEST], [LONGEST + " "]),
        ("caption", MANY, MANY + " dog"),
        ("references", [MANY], [MANY + " dog"]),
        ("labels", MANY.split(), [*MANY.split(), "dog"]),
    ],
)
def test_one_character_word_or_label_more_is_too_long(field, longest, longer):
    for value, too_long in ((longest, False), (longer, True)):
        result = row(**{field: value}, metrics=["VIFIDEL"], max_words=60)
        assert (result["status"] == "too long") == too_long


def test_words_and_labels_together_are_compared_with_all_words_of_references():
    words = MANY.split()
    for references, too_long in (([MANY], False), ([MANY, "dog"], True)):
        # (30 + 30) words and labels, and 60 words of references: 3600 pairs, 60 * 60 at most.
        caption, labels = " ".join(words[:30]), words[30:]
        result = row(caption, labels, references, metrics=["VIFIDEL"], max_words=60)
        assert (result["status"] == "too long") == too_long


@pytest.mark.parametrize(
    ("changes", "status", "with_score"),
    [
        ({"caption": "a zebra", "metrics": ALL[:2]}, "no words", ALL[:2]),
        ({"labels": ["zebra"], "metrics": ["VIFIDEL"]}, "no known words", []),
        ({"labels": ["zebra"], "references": ["a zebra"]}, "no known words", ["VIFIDEL-PRF"]),
        ({"labels": ["zebra"]}, "no known words", ALL[1:]),
    ],
)
def test_words_that_the_vectors_do_not_know(changes, status, with_score, few_words):
    result = row(**{"metrics": ("VIFIDEL", "VIFIDEL-PRF", "WMD"), **changes}, vectors=few_words)
    assert result["status"] == status
    assert scored(result) == [name for name in with_score if name != "VIFIDEL-H"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"caption": None}, "the caption is neither a string"),
        ({"references": [None]}, "the references are not a list of strings"),
        ({"caption": LONG}, f"a text of more than {MOST_CHARACTERS} characters"),
        ({"caption": MANY, "max_words": 9}, "more than 9 different words or labels"),
    ],
)
def test_strict_names_the_first_row_that_needs_a_change(changes, message):
    bad = {"caption": "a dog", "references": ["a cat"], "max_words": 2000, **changes}
    most = bad.pop("max_words")
    rows = TableScorer(strict=True, max_words=most, references="references")
    fine = {"caption": "a dog", "labels": ["dog"], "references": ["a dog"]}
    table = pa.Table.from_pylist(
        [fine] * 1500 + [{**fine, "labels": []}, {**fine, **bad}, {**fine, "caption": None}]
    )
    with pytest.raises(CaptionError, match=f"row 1501: .*{message}"):
        rows.evaluate(table)
    with pytest.raises(CaptionError, match="row 3001: "):
        rows.evaluate(table, first_row=1500)
    assert rows.evaluate(table.slice(0, 1501)).statuses == {"ok": 1500, "no objects": 1}


odd = st.none() | st.integers() | st.text(max_size=9)


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(
            odd | st.binary(max_size=3),
            odd
            | st.lists(odd, max_size=3)
            | st.dictionaries(st.text(max_size=4), st.integers() | st.none(), max_size=3),
            st.none() | st.text(max_size=5) | st.lists(st.none() | st.text(max_size=5)),
        ),
        max_size=4,
    )
)
def test_sequences_of_anything_become_statuses(content):
    captions, labels, references = ([row[at] for row in content] for at in range(3))
    rows = TableScorer(("VIFIDEL", "VIFIDEL-PRF"))
    result = rows.score(
        ["a dog", *captions], [["dog"], *labels], [["a puppy"], *references]
    ).to_pylist()
    assert result[0] == rows.score(["a dog"], [["dog"]], [["a puppy"]]).to_pylist()[0]
    for caption, of_row in zip(captions, result[1:], strict=True):
        if not isinstance(caption, str):
            assert of_row["status"].startswith("bad ")


def test_without_pyarrow_a_sentence_says_what_to_install(monkeypatch):
    from vifidel_eval.plugins import tables

    for name in [name for name in sys.modules if name.startswith(f"{tables.__name__}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(tables, "scorer")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MetricUnavailable, match=r"pip install pyarrow\.$"):
        tables.TableScorer()
    monkeypatch.undo()
    tables.TableScorer()


def test_import_is_light():
    code = "import sys, vifidel_eval.plugins.tables.command as _; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert not {"pyarrow", "numpy"} & set(loaded)
