"""A name is a name whatever touches it: words and mentions come from one tokenisation."""

import pytest

import vifidel_eval
from vifidel_eval.words.content_words import STOP_WORDS, content_words, plain
from vifidel_eval.words.mentions import finder_of
from vifidel_eval.words.synonyms import ClassList, class_names, coco_synonyms

# ruff: noqa: RUF001 - the characters are meant.
BEHIND = r"""
… ... .</s> </s> <|im_end|> <br/> <box>(1,2),(3,4)</box> <eos> [/INST] ** __ * ~~ ` ``` # @ % $ ~
-cat /cat _cat =cat +cat 'cat |cat ,cat .cat .Then …cat – —cat --cat - ‐cat − " ' ” ’ » › ´ ′ 's ’s
?! ; : .2 ,2 :2 (1) [1] {x} ^ + &nbsp; &quot; &#39;s &amp;cat ™ ® ² ） 。 、 ， ！ · • & \ \n \nThen
""".split()
BEHIND += " |,\t,\n,\u200b,\u200d,\u2060,\ufeff,\u00ad,\ufe0f,\u202c,\u2028,\u034f,\x07".split(",")
BEHIND += ["\U0001f600", "\x1b[0m"]
BEFORE = r"""
** __ * _ # | > - • 1. 1.) ( [ { " ' “ ‘ « ‹ „ ‚ ` ´ – — ‑ ~ <s> <ref> <b> <|im_start|> <image>
&nbsp; … ... \n \t cat- cat/ cat_ cat– cat. cat, cat| = + ^ ¡ ¿ （ 「 2, 3.
""".split()
BEFORE += ["\U0001f600", "\u200e", "\ufeff", "\u2060", "\x1b[1m"]


@pytest.mark.parametrize(
    "text",
    [
        *(f"A zebra{one}" for one in BEHIND),
        *(f"A zebra{one} walks." for one in BEHIND),
        *(f"A {one}zebra" for one in BEFORE),
        *(f"{one}zebra walks." for one in BEFORE),
        *(f"A {z} walks." for z in ("ｚｅｂｒａ", "ze­bra", "z⁠ebra", "ze\u200bbra", "𝐳𝐞𝐛𝐫𝐚")),
    ],
    ids=ascii,
)
def test_a_zebra_is_a_mention_and_a_word(text):
    expected = [*content_words(text)]
    assert expected.count("zebra") == 1
    for finder in map(finder_of, (class_names(), coco_synonyms())):
        assert [claim.category for claim in finder.read(text, ()).claims].count("zebra") == 1
        assert [m.category for m in finder.find(text).found].count("zebra") == 1
        words = [word for p in finder.phrases(text, STOP_WORDS) for word in p.words.split()]
        assert words == expected


def test_names_in_another_form():
    text = "A giraﬀe, a ﬁre hydrant, a fire-hydrant, a fire_hydrant and t-shirts."
    result = finder_of(class_names()).find(text).found
    assert [m.words for m in result] == [
        "giraffe", "fire hydrant", "fire hydrant", "fire hydrant", "t-shirts",
    ]  # fmt: skip
    assert content_words("A giraﬀe.") == ["giraffe"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A pine apple.", ["pineapple"]),
        ("A ham per dog.", ["ham", "dog"]),  # no hamper
        ("The candles tick.", ["candles", "tick"]),  # no candlestick
    ],
)
def test_two_words_are_one_name_only_if_they_may_be_one_noun(text, expected):
    assert [m.text for m in finder_of(class_names()).read(text, STOP_WORDS).claims] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <dog> and a <ref>cat</ref>", "a <dog> and a  cat "),  # a name between brackets stays
        ("I <3 a dog > a cat", "I <3 a dog > a cat"),
        ("x² ½ é ﬁ", "x  ½ é fi"),
        ("&#999999999999; &amp; &dog;", "  & &dog;"),
    ],
)
def test_plain_takes_what_is_no_word(text, expected):
    assert plain(text) == expected


def test_hyphens_join_names_and_descriptions():
    result = finder_of(class_names()).find("A dog-cat, a cat-friendly sofa, a horse-drawn cart.")
    assert [m.words for m in result.found] == ["dog", "cat", "sofa", "cart"]


def test_the_published_list_reads_as_the_published_program():
    finder = finder_of(ClassList("mine", (("zebra",), ("cat",)), published=True))
    # A token of the Penn Treebank is looked up whole.
    assert [m.words for m in finder.find("zebra… zebra-cat ｚｅｂｒａ <box>zebra</box>").found] == [
        "zebra"
    ]


@pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")
def test_every_metric_reads_the_same_zebra():
    texts = ["A zebra.", "A zebra…", "A zebra.</s>", "A ｚｅｂｒａ.", "A **zebra**."]
    captions = dict(enumerate(texts))
    run = vifidel_eval.evaluate(
        {"x": captions},
        objects={number: {"zebra": 0, "dog": 1} for number in captions},
        metrics=["VIFIDEL-H", "VIFIDEL-PRF", "CHAIR"],
        progress=False,
    )
    assert len(run.inventions()) >= len(texts)
    rows = [dict(row) for row in run.per_image("x").values()]
    for row in rows:
        row.pop("CHAIR-Len")  # punctuation included
    assert all(row == rows[0] for row in rows)
