"""Columns that are only passed through keep their values, types, names and metadata."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from vifidel_eval.commands.main import main

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

from vifidel_eval.plugins.tables import file_scoring, files  # noqa: E402

UNITS = ("s", "ms", "us", "ns")
ZONES = (None, "UTC", "Europe/Berlin", "+05:30")
#: Types without others in them, but for those whose values are made from other arrays.
PLAIN = [
    *(pa.null(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()),
    *(pa.decimal128(9, 2), pa.decimal128(9, -2), pa.decimal256(60, 3), pa.date32(), pa.date64()),
    *(pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
    *(pa.timestamp(unit, zone) for unit in UNITS for zone in ZONES),
    *map(pa.duration, UNITS),
    *(pa.month_day_nano_interval(), pa.string(), pa.large_string(), pa.string_view()),
    *(pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(3)),
]
#: What arrays of plain types are made from, by what their names begin with.
MADE_FROM = {
    **{f"int{bits}": st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32)},
    "int64": st.integers(-(2**63), 2**63 - 1),
    **{f"uint{bits}": st.integers(0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    "halffloat": st.floats(width=16, allow_nan=False),
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "string": st.text(max_size=6),
    "large_string": st.text(max_size=6),
    "fixed_size_binary": st.binary(min_size=3, max_size=3),
    "binary": st.binary(max_size=6),
    "large_binary": st.binary(max_size=6),
    "bool": st.booleans(),
    "month_day_nano": st.tuples(*[st.integers(-99, 99)] * 3),
    "date64": st.integers(-9, 9).map(lambda days: days * 86_400_000),
    "decimal": st.integers(-999, 999).map(lambda number: Decimal(number * 100)),
    **dict.fromkeys(("date32", "time", "timestamp", "duration"), st.integers(0, 80_000)),
}


def numbers_of(kind):
    """Return the numbers, strings or bytes that an array of a plain type is made from."""
    return next(made for name, made in MADE_FROM.items() if str(kind).startswith(name))


@st.composite
def plain(draw, rows):
    kind = draw(st.sampled_from(PLAIN))
    if pa.types.is_null(kind):
        return pa.nulls(rows)
    values = draw(st.lists(st.none() | numbers_of(kind), min_size=rows, max_size=rows))
    if pa.types.is_float16(kind):
        return pa.array(values, pa.float64()).cast(kind)
    return pa.array(values, kind)


def lengths(draw, rows):
    return np.cumsum([0, *draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))])


@st.composite
def columns(draw, rows, depth=2):
    """Return an array of any type."""
    made = draw(st.sampled_from(["plain", *LAYOUTS] if depth else ["plain"]))
    if made == "plain":
        return draw(plain(rows))
    return LAYOUTS[made](draw, rows, depth)


def listed(make, offsets_of):
    def of(draw, rows, depth):
        ends = lengths(draw, rows)
        return make(pa.array(ends, offsets_of), draw(columns(int(ends[-1]), depth - 1)))

    return of


def views(draw, rows, depth):
    ends = lengths(draw, rows)
    starts, sizes = pa.array(ends[:-1], pa.int32()), pa.array(np.diff(ends), pa.int32())
    return pa.ListViewArray.from_arrays(starts, sizes, draw(columns(int(ends[-1]), depth - 1)))


def mapped(draw, rows, depth):
    ends = lengths(draw, rows)
    keys = pa.array([f"k{at}" for at in range(ends[-1])], pa.string())
    values = draw(columns(int(ends[-1]), depth - 1))
    return pa.MapArray.from_arrays(pa.array(ends, pa.int32()), keys, values)


def struct(draw, rows, depth):
    names = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True))
    return pa.StructArray.from_arrays([draw(columns(rows, depth - 1)) for _ in names], names)


def dictionary(draw, rows, _):
    values = draw(st.lists(st.text(max_size=3), min_size=1, max_size=4, unique=True))
    kind = draw(st.sampled_from([pa.string(), pa.large_string(), pa.binary()]))
    indices = draw(
        st.lists(st.none() | st.integers(0, len(values) - 1), min_size=rows, max_size=rows)
    )
    of = draw(st.sampled_from([pa.int8(), pa.int32(), pa.uint16()]))
    return pa.DictionaryArray.from_arrays(pa.array(indices, of), pa.array(values, kind))


def run_ends(draw, rows, _):
    assume(rows)
    return pa.RunEndEncodedArray.from_arrays(
        pa.array([rows], pa.int32()), pa.array([draw(st.text(max_size=3))])
    )


def union(draw, rows, depth):
    parts = [draw(columns(rows, depth - 1)) for _ in range(2)]
    kinds = draw(st.lists(st.integers(0, 1), min_size=rows, max_size=rows))
    return pa.UnionArray.from_sparse(pa.array(kinds, pa.int8()), parts)


def extension(draw, rows, _):
    values = st.lists(st.none() | st.just(b"0123456789abcdef"), min_size=rows, max_size=rows)
    return pa.ExtensionArray.from_storage(pa.uuid(), pa.array(draw(values), pa.binary(16)))


LAYOUTS = {
    "list": listed(pa.ListArray.from_arrays, pa.int32()),
    "large list": listed(pa.LargeListArray.from_arrays, pa.int64()),
    "fixed size": lambda draw, rows, depth: pa.FixedSizeListArray.from_arrays(
        draw(columns(2 * rows, depth - 1)), 2
    ),
    "view": views,
    "map": mapped,
    "struct": struct,
    "dictionary": dictionary,
    "run ends": run_ends,
    "union": union,
    "extension": extension,
}


@st.composite
def passing_tables(draw):
    rows = draw(st.integers(1, 6))
    metadata = st.none() | st.dictionaries(st.text("kl", min_size=1), st.text(max_size=3))
    of_columns = [draw(columns(rows)) for _ in range(draw(st.integers(1, 2)))]
    fields = [
        pa.field(f"c{at}", column.type, metadata=draw(metadata))
        for at, column in enumerate(of_columns)
    ]
    captions, labels = pa.array(["a dog"] * rows), pa.array([["dog"]] * rows)
    fields += [pa.field("caption", captions.type), pa.field("labels", labels.type)]
    return pa.table(
        [*of_columns, captions, labels], schema=pa.schema(fields, metadata=draw(metadata))
    )


def scored(folder, name, style, *arguments):
    """Return what the command writes of an input, and what it says."""
    result = CliRunner().invoke(
        main,
        ["score-table", str(folder / name), "--output", str(folder / "out"), "--workers", "1",
         "--metrics", "VIFIDEL-PRF", "--format", style, *arguments],
    )  # fmt: skip
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    if result.exit_code:
        assert not (folder / "out").exists()
        return None, result.stderr.splitlines()[-1]
    path = folder / "out" / f"{name.partition('.')[0]}.{style}"
    return parquet.read_table(path) if style == "parquet" else feather.read_table(path), ""


def held_by_parquet(table, **how):
    """Return whether a file of Parquet gives back the types of a table."""
    try:
        parquet.write_table(table, sink := pa.BufferOutputStream(), **how)
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


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(table=passing_tables(), style=st.sampled_from(["parquet", "arrow"]), keep=st.booleans())
def test_columns_of_arrow(tmp_path_factory, table, style, keep):
    folder = tmp_path_factory.mktemp("run")
    with pa.ipc.new_file(str(folder / "a.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    conditions = ("--keep", "VIFIDEL_P >= 0") if keep else ()
    found, messages = scored(folder, "a.arrow", style, *conditions)
    # PyArrow's writer of Parquet has no fixed-size lists of views, unless they are all null.
    assume("cannot be written: Slicing not implemented for" not in messages)
    if style == "parquet" and not held_by_parquet(table):
        assert "a.arrow: the column 'c" in messages
        assert "choose --format arrow, or leave the column out" in messages
    else:
        check_same(found, table)


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(table=passing_tables(), style=st.sampled_from(["parquet", "arrow"]))
def test_columns_of_parquet(tmp_path_factory, table, style):
    assume(held_by_parquet(table, row_group_size=2))  # of some types it slices no views
    folder = tmp_path_factory.mktemp("run")
    parquet.write_table(table, folder / "a.parquet", row_group_size=2)
    found, messages = scored(folder, "a.parquet", style)
    assert found is not None, messages
    check_same(found, table)


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
    found, messages = scored(tmp_path, "a.parquet", end)
    assert found is not None, messages
    assert found.schema.field("word").type == table.schema.field("word").type
    assert found["word"].to_pylist() == words


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
    found, messages = scored(folder, name, "parquet")
    assert found is not None, messages
    for at, column in enumerate("xy"):
        assert found.schema.field(column).type == pa.string()
        assert found[column].to_pylist() == [row[at] for row in rows]


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
        found, messages = scored(folder, "a.jsonl", "parquet")
    assert found is not None, messages
    for name in {name for row in given_rows for name in row}:
        wanted = [row.get(name) for row in given_rows]
        got = found[name].to_pylist()
        if found.schema.field(name).type != pa.string():
            assert without_nulls(got) == without_nulls(wanted)
            continue
        for one, other in zip(got, wanted, strict=True):
            if other is None or isinstance(other, str):
                assert one == other
            else:
                assert json.loads(one) == other
                assert type(json.loads(one)) is type(other)
