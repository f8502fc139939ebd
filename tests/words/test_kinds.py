"""Kinds of things in a list of classes: their syntax, and what follows from it."""

from __future__ import annotations

import pytest

from vifidel_eval import VifidelError
from vifidel_eval.words.synonyms import Parent, class_names, read_classes, read_things

LIST = "horse\ndog, puppy\ntable\nbicycle\nmotorcycle\n"
KINDS = "pony, shetland pony < horse\nbike < bicycle, motorcycle\ndesk < table ?\nzorse < pony\n"


@pytest.fixture
def things(tmp_path):
    def read(text, **given):
        path = tmp_path / "things.txt"
        path.write_text(text, encoding="utf-8")
        return read_things(**(given or {"only_things": path}))

    return read


def test_parents_are_read(things):
    kinds = things(LIST + KINDS).kinds
    assert kinds.above("pony") == ((Parent("horse", True),),)
    assert kinds.above("zorse") == ((Parent("pony", True),), (Parent("horse", True),))
    assert kinds.above("bike") == ((Parent("bicycle", True), Parent("motorcycle", True)),)
    assert kinds.above("desk") == ((Parent("table", False),),)
    assert kinds.above("horse") == kinds.above("unheard") == ()


def test_what_a_class_is_for_sure(things):
    kinds = things(LIST + KINDS).kinds
    assert kinds.upward("zorse") == {"zorse", "pony", "horse"}
    assert kinds.upward("bike") == {"bike", "bicycle", "motorcycle"}
    assert kinds.upward("desk") == {"desk"}  # which only may be a table
    assert kinds.upward("unheard") == {"unheard"}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("pony < unicorn", "'pony' is listed as a kind of 'unicorn', which is no name of the list"),
        ("a < b\nb < c\nc < a", "'a' is listed as a kind of itself"),
        ("horse < horse", "is already a name of 'horse'|'horse' is listed as a kind of itself"),
        ("pony < ", "'' is not a name"),
        ("pony < horse < dog", "is not a name"),
        ("- pony < horse", "is not a name"),
    ],
)
def test_wrong_kinds_are_named(things, lines, message):
    with pytest.raises(VifidelError, match=message):
        things(f"{lines}\n" if lines == "horse < horse" else f"{LIST}{lines}\n")


def test_kinds_are_part_of_the_digest(things):
    lists = [things(LIST + line) for line in ("desk", "desk < table", "desk < table?")]
    assert len({classes.digest for classes in lists}) == 3
    assert things(LIST + "desk <  table").digest == lists[1].digest


def test_more_names_join_the_kinds_of_the_list(tmp_path):
    path = tmp_path / "more.txt"
    path.write_text("okapi < giraffe\nlusitano < pony\n", encoding="utf-8")
    together = read_things(path)
    assert "animal" in together.kinds.upward("okapi")
    assert {"pony", "horse"} < together.kinds.upward("lusitano")
    # A list is complete together with ours, and not without.
    assert read_classes(path).parents == (
        ("okapi", Parent("giraffe", True)),
        ("lusitano", Parent("pony", True)),
    )
    with pytest.raises(VifidelError, match="'okapi' is listed as a kind of 'giraffe'"):
        read_things(only_things=path)


@pytest.mark.parametrize("things", [class_names(), class_names().things])
def test_our_kinds_are_of_our_classes(things):
    known = {*things.class_of.values()}
    assert {parent.category for _, parent in things.parents} <= known
    assert things.kinds.circle() is None


@pytest.mark.parametrize(
    ("name", "above"),
    [
        ("foal", {"horse", "animal"}),
        ("poodle", {"dog", "mammal"}),
        ("kitten", {"cat", "animal"}),
        ("surfer", {"person"}),
        ("crowd", {"person"}),
        ("taxi", {"car", "vehicle"}),
        ("school bus", {"bus", "vehicle"}),
        ("pony", {"horse"}),
        ("phone", {"cellular telephone"}),
        ("strawberry", {"fruit", "food"}),
    ],
)
def test_what_names_are_kinds_of(name, above):
    things = class_names()
    assert above <= things.kinds.upward(things.class_of[name])
