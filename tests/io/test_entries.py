"""Containers and their entries, which say in one sentence what is missing or of a wrong kind."""

import pytest

from vifidel_eval.errors import AnnotationError
from vifidel_eval.io.containers import content_of, csv_rows, entries_of
from vifidel_eval.io.entries import Entries, Source


def entries(*values, **settings):
    return Entries(values, Source("f.json", AnnotationError), **settings)


def nested(value):
    return nested([value])


@pytest.mark.parametrize(
    ("value", "read", "message"),
    [
        ({}, lambda e: e["a"], "'a' is missing; every entry needs it."),
        ({}, lambda e: e.image_id("a"), "'a' is missing; an image id is an integer or a string."),
        ({"a": None}, lambda e: e.image_id("a"), "'a' is null; an image id is an integer"),
        ({"a": " "}, lambda e: e.text("a"), "'a' is empty; expected text."),
        ({"a": True}, lambda e: e.image_id("a"), "'a' is True; an image id is"),
        ({"a": 4.5}, lambda e: e.image_id("a"), "'a' is 4.5; an image id is"),
        ({"a": 1}, lambda e: e.flag("a"), "'a' is 1; expected true or false."),
        ({"a": True}, lambda e: e.number("a", 0, 1), "'a' is True; expected a number from 0 to 1."),
        ({"a": 1.5}, lambda e: e.number("a", 0, 1), "'a' is 1.5; expected a number from 0 to 1."),
        ({"a": {}}, lambda e: e.entries("a"), "'a' is {}; expected a list."),
        ({"a": ["b", 1]}, lambda e: e.texts("a"), "'a' is ['b', 1]; expected a list of strings."),
    ],
)
def test_what_is_missing_or_of_a_wrong_kind(value, read, message):
    (entry,) = entries(value)
    with pytest.raises(AnnotationError) as problem:
        read(entry)
    assert str(problem.value).startswith(f"f.json: [0]: {message}")


def test_both_ends_of_a_range_are_in_it():
    assert [entry.number("a", 0, 1) for entry in entries({"a": 0}, {"a": 1})] == [0, 1]


@pytest.mark.parametrize(
    "read",
    [lambda e: e["a"]["b"], lambda e: e["a"] + "", lambda e: [][e["a"]], lambda e: nested(e["a"])],
)
def test_whatever_else_a_reader_takes_for_granted_is_one_sentence(read):
    listed = entries({"a": 1})
    message = r"f\.json: \[0\]: cannot be read as toys \(.*\); correct it, or give another file\.$"
    with pytest.raises(AnnotationError, match=message), listed.source.reading_as("toys"):
        [read(entry) for entry in listed]


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b'{"1": ["dog"]}', "object"),
        (b'\xef\xbb\xbf[{"a": 1}]', "list"),
        (b'{"a": 1}\n{"a": 2}\n', "list"),
        (b"a;b\n1;2,5\n", "table"),
        (b" <a/>", "xml"),
        (b"7", "other"),
    ],
)
def test_containers_are_told_apart_by_content(raw, kind):
    assert content_of(raw, "f.json", AnnotationError).kind == kind


def test_entries_of_files_and_lists(tmp_path):
    path = tmp_path / "f"
    for text in ('[{"a": 1}]', '{"a": 1}', '\n{"a": 1}\n{"b": 1}\n'):
        path.write_text(text)
        assert entries_of(path, AnnotationError)[0].content == {"a": 1}
    assert str(entries_of([{}], AnnotationError, "mine")[0]) == "mine: line 1"
    path.write_text("a,b\n")
    with pytest.raises(AnnotationError, match="is neither a list of JSON objects"):
        entries_of(path, AnnotationError)


def test_rows_are_at_the_line_where_they_begin():
    text = 'a,b\n\n"1\n2",3\n4,5'
    rows = list(csv_rows(text, "f", ",", AnnotationError, line_breaks=True))
    assert rows == [(1, ["a", "b"]), (3, ["1\n2", "3"]), (5, ["4", "5"])]
    with pytest.raises(AnnotationError, match="line 3 is not CSV"):
        list(csv_rows(text, "f", ",", AnnotationError))
