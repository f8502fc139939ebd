"""Columns that are only passed through keep their values, types, names and metadata."""

import csv
import io
import json
from decimal import Decimal

import pytest
from conftest import call
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

from vifidel_eval.plugins.tables import file_scoring, files  # noqa: E402

UNITS = ("s", "ms", "us", "ns")
ZONES = (None, "UTC", "Europe/Berlin", "+05:30")
#: Types without others in them.
PLAIN = [
    *(pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float32(), pa.float64()),
    *(pa.decimal128(9, 2), pa.decimal128(9, -2), pa.decimal256(60, 3), pa.date32(), pa.date64()),
    *(pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
    *(pa.timestamp(unit, zone) for unit in UNITS for zone in ZONES),
    *map(pa.duration, UNITS),
    *(pa.month_day_nano_interval(), pa.string(), pa.large_string(), pa.string_view()),
    *(pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(3)),
]
#: What values of the other types are made from, by what their names begin with.
VALUES = {
    "bool": (True, False),
    "date64": (0, 86_400_000),
    "decimal": (Decimal(100), Decimal(-900)),
    "month_day_nano": ((1, 2, 3), (0, -9, 0)),
    **dict.fromkeys(("string", "large_string"), ("a\u00e9", "")),
    **dict.fromkeys(("binary", "large_binary", "fixed_size_binary"), (b"abc", b"\0\xff ")),
}


def plain(kind):
    values = (of for name, of in VALUES.items() if str(kind).startswith(name))
    one, other = next(values, (0, 97))
    return pa.array([one, None, other], kind)


TEXT, LISTS = pa.string(), [["x", "y"], None, ["", None]]
NESTED = {
    "null": pa.nulls(3),
    "halffloat": pa.array([0.5, None, -1.0]).cast(pa.float16()),
    "list": pa.array(LISTS, pa.list_(TEXT)),
    "large list": pa.array(LISTS, pa.large_list(TEXT)),
    # No null: pyarrow reads one from Parquet only from version 26 on.
    "fixed size": pa.array([["x", "y"], ["z", ""], ["", None]], pa.list_(TEXT, 2)),
    "view": pa.array(LISTS, pa.list_view(TEXT)),
    "map": pa.array([[("k", 1)], None, []], pa.map_(TEXT, pa.int64())),
    "struct": pa.array([{"a": 1, "b": ["x"]}, None, {"a": None, "b": []}]),
    "list of maps": pa.array([[[("k", 1)]], None, []], pa.list_(pa.map_(TEXT, pa.int64()))),
    "dictionary": pa.array(["x", None, "y"]).dictionary_encode(),
    "dictionary of bytes": pa.DictionaryArray.from_arrays(
        pa.array([0, None, 0], pa.uint16()), [b"x"]
    ),
    "run ends": pa.RunEndEncodedArray.from_arrays(
        pa.array([1, 3], pa.int32()), pa.array(["x", "y"])
    ),
    "union": pa.UnionArray.from_sparse(
        pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(["x", "y", "z"])]
    ),
    "extension": pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([b"0123456789abcdef", None, None], pa.binary(16))
    ),
}
COLUMNS = {**{str(kind): plain(kind) for kind in PLAIN}, **NESTED}


def table_of(columns):
    """Return a table with some columns, and metadata, beside captions and labels."""
    columns = {**columns, "caption": pa.array(["a dog"] * 3), "labels": pa.array([["dog"]] * 3)}
    fields = [pa.field(name, of.type, metadata={"k": name}) for name, of in columns.items()]
    return pa.table(list(columns.values()), schema=pa.schema(fields, metadata={"made": "here"}))


def scored(folder, name, style, *arguments):
    """Return what the command writes of an input, and what it says."""
    options = ("--workers", "1", "--metrics", "VIFIDEL-PRF", "--format", style, *arguments)
    result = call("score-table", folder / name, "--output", folder / "out", *options)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    if result.exit_code:
        assert not (folder / "out").exists()
        return None, result.stderr.splitlines()[-1]
    path = folder / "out" / f"{name.partition('.')[0]}.{style}"
    return parquet.read_table(path) if style == "parquet" else feather.read_table(path), ""


def held_by_parquet(table):
    """Return whether a file of Parquet gives back the types of a table."""
    try:
        parquet.write_table(table, sink := pa.BufferOutputStream())
    except (pa.ArrowException, OSError):
        return False
    return parquet.read_schema(pa.BufferReader(sink.getvalue())).types == table.schema.types


def check_same(found, table):
    same = found.select(range(table.num_columns))
    assert same.schema.names == table.schema.names
    assert same.schema.types == table.schema.types
    assert (same.schema.metadata or {}) == (table.schema.metadata or {})
    for one, other in zip(same.schema, table.schema, strict=True):
        metadata = {k: v for k, v in (one.metadata or {}).items() if not k.startswith(b"PARQUET:")}
        assert metadata == (other.metadata or {})
    assert same.combine_chunks().equals(table.combine_chunks())


def write_arrow(table, path):
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


@pytest.mark.parametrize("conditions", [(), ("--keep", "VIFIDEL_P >= 0")])
def test_columns_of_arrow(tmp_path, conditions):
    table = table_of(COLUMNS)
    write_arrow(table, tmp_path / "a.arrow")
    result, messages = scored(tmp_path, "a.arrow", "arrow", *conditions)
    assert result is not None, messages
    check_same(result, table)


HELD = {name for name, column in COLUMNS.items() if held_by_parquet(pa.table({"c": column}))}


@pytest.mark.parametrize("end", ["parquet", "arrow"])
def test_columns_of_parquet(tmp_path, end):
    table = table_of({name: COLUMNS[name] for name in COLUMNS if name in HELD})
    if end == "arrow":
        write_arrow(table, tmp_path / "a.arrow")
    else:
        parquet.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    result, messages = scored(tmp_path, f"a.{end}", "parquet")
    assert result is not None, messages
    check_same(result, table)


@pytest.mark.parametrize("name", sorted(COLUMNS.keys() - HELD))
def test_a_column_that_parquet_does_not_hold(tmp_path, name):
    write_arrow(table_of({name: COLUMNS[name]}), tmp_path / "a.arrow")
    result, messages = scored(tmp_path, "a.arrow", "parquet")
    assert result is None
    assert f"a.arrow: the column '{name}'" in messages
    assert "choose --format arrow, or leave the column out" in messages


@pytest.mark.parametrize("end", ["parquet", "arrow"])
def test_dictionaries_that_grow_from_batch_to_batch(tmp_path, end, monkeypatch):
    monkeypatch.setattr(file_scoring, "_ROWS", 1300)
    rows = 1500  # more than one row group of the output
    words = [f"k{at // 200}-{at % 7}" for at in range(rows)]
    table = pa.table({
        "caption": ["a dog"] * rows, "labels": [["dog"]] * rows,
        "word": pa.array(words).dictionary_encode(),
    })  # fmt: skip
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=100)
    result, messages = scored(tmp_path, "a.parquet", end)
    assert result is not None, messages
    assert result.schema.field("word").type == table.schema.field("word").type
    assert result["word"].to_pylist() == words


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=6), st.sampled_from([",", "\t"]))
def test_cells_of_text(tmp_path_factory, rows, between):
    folder = tmp_path_factory.mktemp("run")
    name = "a.csv" if between == "," else "a.tsv"
    text = io.StringIO()
    writer = csv.writer(text, csv.unix_dialect, delimiter=between)  # with all cells in quotes
    writer.writerows([("x", "caption", "labels", "y"), *((x, "a dog", "[]", y) for x, y in rows)])
    (folder / name).write_bytes(text.getvalue().encode())
    result, messages = scored(folder, name, "parquet")
    assert result is not None, messages
    for at, column in enumerate("xy"):
        assert result.schema.field(column).type == pa.string()
        assert result[column].to_pylist() == [row[at] for row in rows]


whole = st.integers(-(2**64), 2**64) | st.sampled_from([2**53, 2**53 + 1, 2**63 - 1, 2**63])
values = st.recursive(
    st.none() | st.booleans() | whole | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda some: st.lists(some, max_size=3) | st.dictionaries(st.text("ab", min_size=1), some),
    max_leaves=4,
)  # fmt: skip


def without_nulls(value):
    """Return a value of JSON without what is null: a field that is not there is null in Arrow."""
    if isinstance(value, dict):
        named = {name: without_nulls(of) for name, of in value.items() if of is not None}
        return {name: of for name, of in named.items() if of not in (None, {})}
    if isinstance(value, list):
        return [without_nulls(of) for of in value]
    return value


@pytest.mark.slow
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(st.lists(st.dictionaries(st.sampled_from("xyz"), values), min_size=1, max_size=5))
def test_values_of_json_lines(tmp_path_factory, given_rows):
    """Read in blocks of a line each, so that every value may change what is known of its column."""
    folder = tmp_path_factory.mktemp("run")
    base = {"caption": "a dog", "labels": ["dog"]}
    text = "".join(json.dumps({**base, **row}) + "\n" for row in given_rows)
    (folder / "a.jsonl").write_text(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(files, "_BYTES_AT_ONCE", 16)
        result, messages = scored(folder, "a.jsonl", "parquet")
    assert result is not None, messages
    for name in {name for row in given_rows for name in row}:
        expected = [row.get(name) for row in given_rows]
        got = result[name].to_pylist()
        if result.schema.field(name).type != pa.string():
            assert without_nulls(got) == without_nulls(expected)
            continue
        for one, other in zip(got, expected, strict=True):
            if other is None or isinstance(other, str):
                assert one == other
            else:
                assert json.loads(one) == other
                assert type(json.loads(one)) is type(other)
