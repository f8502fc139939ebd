"""The recipes of docs/tables.md, a table that they can run on, and what must come out."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from vifidel_eval import Vifidel

PAGE = Path(__file__).parents[1] / "docs" / "tables.md"
_RECIPE = re.compile(r"<!-- recipe: ([\w-]+) -->\n```\w+\n(.*?)```", flags=re.DOTALL)
_RECIPES = dict(_RECIPE.findall(PAGE.read_text("utf-8")))


def recipe(name: str) -> str:
    """Return the commands or lines of Python below the recipe's mark."""
    return _RECIPES[name]


CAPTIONS = {
    "id": [1, 2, 3, 4, 5],
    "caption": ["a dog catches a frisbee", "a cat", "a cat on a couch", None, "two dogs"],
    "labels": [["dog", "frisbee"], ["cat", "couch"], ["cat", "couch"], ["car"], []],
    "refs": [["the dog plays"], ["a cat sleeps"], ["a cat sleeps"], ["a car"], ["dogs"]],
}


def write_captions(folder: Path) -> None:
    """Write the table as a folder `captions` of two Parquet files."""
    (folder / "captions").mkdir()
    table = pa.table(CAPTIONS)
    pq.write_table(table.slice(0, 3), folder / "captions" / "a.parquet")
    pq.write_table(table.slice(3), folder / "captions" / "b.parquet")


def check_scored(path: Path, references: bool = False, struct: str | None = None) -> None:
    """Check the scores in a file or folder of Parquet, flat or in a column of structs."""
    files = sorted(path.glob("*.parquet")) if path.is_dir() else path  # others may be beside them
    table = pq.read_table(files).sort_by("id")
    assert table["id"].to_pylist() == CAPTIONS["id"]
    captions, labels, refs = (CAPTIONS[name][:3] for name in ("caption", "labels", "refs"))
    expected = Vifidel().score(captions, objects=labels, references=refs if references else None)

    def column(name: str) -> list[object]:
        return (table[name] if struct is None else pc.struct_field(table[struct], name)).to_pylist()

    assert column("VIFIDEL") == [*expected, None, None]
    assert column("status") == ["ok", "ok", "ok", "bad caption", "no objects"]
