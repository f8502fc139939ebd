"""The report in a real browser."""

import csv
import dataclasses
import json
import math
import re
from collections import Counter

import numpy as np
import pytest
from scipy.stats import rankdata
from show.pages import PHONE, check_accessibility, shown

from vifidel_eval.show.report import render_page
from vifidel_eval.show.report.data import image_data
from vifidel_eval.show.report.overview import Order

METRICS = ["VIFIDEL", "WMD", "Bleu_1", "Bleu_4", "Errors", "CIDEr"]
FEWEST = 10
ORDERED = ["VIFIDEL", "CIDEr", "Bleu_4", "Bleu_1", "WMD", "Errors"]  # as in all tables


def choose(tab, **values):
    for name, value in values.items():
        tab.locator(f"#images [name={name}], .bar [name={name}]").select_option(value)


#: The texts of a card.
TEXTS = """card => {
    const all = (node, wanted, of = (found) => found.textContent) =>
        [...node.querySelectorAll(wanted)].map(of);
    return {
        heading: card.querySelector("h3").textContent,
        objects: all(card, ".objects li"),
        references: all(card, ".references li"),
        candidates: all(card, ".candidates > li", (one) => ({
            name: one.querySelector("h4").textContent,
            caption: one.querySelector(".caption").textContent,
            marks: all(one, ".said", (mark) => [mark.textContent.toLowerCase(), mark.className]),
            loose: all(one, ".loose"),
            scores: all(one, ".scores li"),
            words: all(one, ".words tbody tr", (row) => all(row, "td")),
            plans: one.querySelectorAll(".plan").length,
        })),
    };
}"""


def two_digits(support):
    """Return hundredths, rounded as numpy rounds."""
    return f"{np.rint(100 * support) / 100:.2f}"


def shown_score(score):
    """Return a score as the page shows it, which is as all tables do."""
    return "\N{EN DASH}" if math.isnan(score) else f"{score:.4f}"


def scores_of(content, system, metric):
    evaluation = content.scores.evaluations[system][metric]
    return dict(zip(map(str, evaluation.ids), evaluation.scores.tolist(), strict=True))


@pytest.mark.parametrize("objects", [True, False])
@pytest.mark.parametrize("systems", [3, 1])
def test_cards_hold_what_is_known_of_each_image(
    visit, make_content, make_explained, tmp_path, systems, objects
):
    path = tmp_path / "report.html"
    content = make_content(images=20, systems=systems)
    if not objects:
        nothing = {image_id: Counter() for image_id in content.references}
        explanations = {
            name: make_explained(captions, nothing, content.references)
            for name, captions in content.captions.items()
        }
        content = dataclasses.replace(content, objects=nothing, explanations=explanations)
    path.write_text(render_page(content), "utf-8")
    tab = visit(path.as_uri())
    choose(tab, sort="given")
    tab.locator("details.words").evaluate_all("all => all.forEach((one) => (one.open = true))")
    explanations = list(content.explanations.values())
    for at, (image_id, card) in enumerate(
        zip(content.references, tab.locator("article").all(), strict=True)
    ):
        texts = card.evaluate(TEXTS)
        assert texts["heading"] == f"Image {image_id}"
        result = content.objects[image_id]
        assert texts["objects"] == [
            label + f" \N{MULTIPLICATION SIGN}{count}" * (count > 1)
            for label, count in result.items()
        ]
        assert texts["references"] == content.references[image_id]
        assert len(texts["candidates"]) == systems
        for name, of_system, candidate in zip(
            content.captions, explanations, texts["candidates"], strict=True
        ):
            explanation = of_system[at]
            assert candidate["name"] == name
            assert candidate["caption"] == content.captions[name][image_id]
            lists = {"Made up:": explanation.hallucinated}
            lists |= {"Unconfirmed:": explanation.unconfirmed}
            lists |= {"Missed:": explanation.unmentioned}
            assert candidate["loose"] == [
                f"{what} {', '.join(names)}" for what, names in lists.items() if names
            ]
            scores = [e.scores[at] for e in content.scores.evaluations[name].values()]
            assert candidate["scores"] == [
                f"{metric} {shown_score(score)}"
                for metric, score in zip(METRICS, scores, strict=True)
            ]
            mentions = [(m.words, m.verdict, m) for m in explanation.mentions]
            caption = explanation.caption.lower()
            others = [w for w in explanation.words if w.judged is None]
            others.sort(key=lambda w: (caption.find(w.word), w.word))
            mentions += [(w.word, None, w) for w in others]
            assert candidate["words"] == [
                [
                    words,
                    "not checked" if verdict is None else str(verdict),
                    "\N{EN DASH}" if math.isnan(it.support) else two_digits(it.support),
                    it.supported_by or "\N{EN DASH}",
                ]
                for words, verdict, it in mentions
            ]
            marks = {None: "open", 0: "unjudged", 1: "there", 2: "absent"}
            rest = list(candidate["marks"])
            for words, verdict, _ in mentions:
                assert [words, f"said {marks[verdict]}"] in rest
            assert {tuple(mark) for mark in rest} == {
                (words, f"said {marks[verdict]}") for words, verdict, _ in mentions
            }
            assert candidate["plans"] == int(objects)


#: Captions, their mentions, other words, and what is marked of which of these.
MARKED = [
    ("Two hot  dogs, one DOG.", ["hot dogs", "dog"], [], [("hot  dogs", 0), ("DOG", 1)]),
    ("a dog and a dog", ["dog", "dog"], [], [("dog", 0), ("dog", 1)]),
    ("a hotdog", ["dog"], [], []),
    ("red fire hydrant, red car", ["fire hydrant", "car"], ["red"],
     [("red", 2), ("fire hydrant", 0), ("red", 2), ("car", 1)]),
    ("a \U0001f600 dog", ["dog"], [], [("dog", 0)]),
    ("\u0915\u093f\u0924\u093e\u092c", [], ["\u0915\u093f\u0924\u093e\u092c"],
     [("\u0915\u093f\u0924\u093e\u092c", 0)]),
    ("cafe\u0301 sign", ["sign"], ["caf\u00e9"], [("cafe\u0301", 1), ("sign", 0)]),
    ("[dog", ["dog"], [], [("dog", 0)]),
    ("A Fire hydrant, dogs, a dog", ["fire hydrant", "dogs", "dog"], [],
     [("Fire hydrant", 0), ("dogs", 1), ("dog", 2)]),
    ("a hot hot dog", ["hot dog"], ["hot"], [("hot", 1), ("hot dog", 0)]),
    ("a fire-hydrant on t.v.", ["fire-hydrant", "t.v."], [], [("fire-hydrant", 0), ("t.v", 1)]),
    ("dog", ["\u2014", "cat", "dog"], [], [("dog", 2)]),
]  # fmt: skip


def with_data(page, name, data):
    """Return a page with other data in one of its elements."""
    start = page.index(f'id="{name}">') + len(f'id="{name}">')
    text = json.dumps(data).replace("<", "\\u003c")
    return page[:start] + text + page[page.index("</script>", start) :]


def test_links_bring_back_images_of_any_id(visit, make_content, tmp_path):
    content = make_content(images=2, systems=1)
    data = image_data(content) | {"ids": ["val2017/7 (a).jpg", "50% & + more"]}
    path = tmp_path / "report.html"
    path.write_text(with_data(render_page(content), "data", data), "utf-8")
    tab = visit(path.as_uri())
    choose(tab, sort="given")
    links = tab.locator("article h3 a")
    first, second = links.evaluate_all("all => all.map((link) => link.getAttribute('href'))")
    assert first == "#images?image=val2017%2F7%20(a).jpg"
    assert shown(visit(path.as_uri() + second)) == ["50% & + more"]


def test_every_word_is_marked_where_it_is(visit, make_content, tmp_path):
    content = make_content(images=len(MARKED), systems=1)
    texts, plans = [], []

    def number_of(text):
        texts.append(text)
        return len(texts) - 1

    for _, mentions, words, _ in MARKED:
        plans.append(
            [
                [],
                [n for word in words for n in (number_of(word), 0, 0, -1, -1)],
                [n for mention in mentions for n in (number_of(mention), -1, 0, -1, 1, -1, -1)],
                [],
            ]
        )
    data = image_data(content) | {"captions": [[caption for caption, *_ in MARKED]]}
    page = with_data(render_page(content), "data", data)
    page = with_data(page, "plans", {"texts": texts, "plans": [plans], "scale": 1})
    path = tmp_path / "report.html"
    path.write_text(page, "utf-8")
    tab = visit(path.as_uri())
    choose(tab, sort="given")
    for card, (caption, *_, result) in zip(tab.locator("article").all(), MARKED, strict=True):
        assert card.locator(".caption").evaluate("c => c.textContent") == caption
        marks = card.locator(".said").evaluate_all(
            "all => all.map((mark) => [mark.textContent, Number(mark.dataset.said)])"
        )
        assert list(map(tuple, marks)) == result


@pytest.mark.parametrize(
    ("metric", "sort", "highest_first"),
    [
        ("Bleu_1", "worst", False),
        ("Bleu_1", "best", True),
        ("Errors", "worst", True),
        ("Errors", "best", False),
    ],
)
def test_sorting_by_a_score_of_a_system(visit, content, metric, sort, highest_first):
    tab = visit()
    choose(tab, system="dreaming", metric=metric, sort=sort)
    scores = scores_of(content, "dreaming", metric)
    assert shown(tab) == sorted(scores, key=scores.get, reverse=highest_first)[:20]
    assert set(tab.locator("article h4:not(.gold h4)").all_inner_texts()) == {"dreaming"}
    assert tab.locator("#order").inner_text() == f"Images with the {sort} {metric} come first."


@pytest.mark.parametrize(("against", "sign"), [("CIDEr", 1), ("Errors", -1)])
def test_sorting_by_the_disagreement_of_metrics(visit, content, against, sign):
    tab = visit()
    other = METRICS.index(against)
    choose(tab, sort="metrics", against=against)
    data = image_data(content)
    table = [
        [[math.nan if s is None else s for s in of_metric] for of_metric in of_system]
        for of_system in data["scores"]
    ]
    scores = np.array(table)
    ranks = [
        (rankdata(of, nan_policy="omit").reshape(of.shape) - 0.5) / np.isfinite(of).sum()
        for of in (scores[:, 0], sign * scores[:, other])  # ties count half
    ]
    apart = ranks[0] - ranks[1]
    apart = apart[np.nan_to_num(np.abs(apart), nan=-1).argmax(axis=0), range(apart.shape[1])]
    first = np.argsort(-np.abs(apart), kind="stable")[:20]
    assert shown(tab) == [data["ids"][i] for i in first]
    names = [("VIFIDEL", against)[:: 1 if apart[i] > 0 else -1] for i in first]
    assert tab.locator("article header p").all_inner_texts() == [
        f"{above} {100 * abs(apart[i]):.0f} points above {below}"
        for i, (above, below) in zip(first, names, strict=True)
    ]


def test_pages(visit, content):
    tab = visit()
    first, ids = shown(tab), list(map(str, content.references))
    assert first == [ids[i] for i in Order(image_data(content)).places[:20]]
    assert tab.locator(".status").inner_text() == "45 of 45 images; showing 1 to 20."
    tab.get_by_role("button", name="Next").click()
    second = shown(tab)
    tab.get_by_label("Page", exact=True).fill("3")
    tab.keyboard.press("Enter")
    third = shown(tab)
    assert len({*first, *second, *third}) == 45
    assert tab.get_by_role("button", name="Next").is_disabled()
    tab.get_by_role("button", name="Previous").click()
    assert shown(tab) == second


def test_the_keyboard_opens_a_plan(visit, content):
    tab = visit()
    choose(tab, sort="given")
    summary = tab.locator("details.plan summary").first
    svg = tab.locator("details.plan").first.locator("svg")
    assert svg.count() == 0  # drawn when it is asked for
    summary.focus()
    tab.keyboard.press("Enter")
    explanation = content.explanations["careful"][0]
    svg.wait_for()
    assert svg.locator("path").count() == len(explanation.matches)
    assert set(svg.locator("text.word").all_text_contents()) == {
        m.word for m in explanation.matches
    }
    total = tab.locator("details.plan").first.locator("tfoot td").inner_text()
    assert float(total) == pytest.approx(explanation.distance, abs=5e-4)
    outline = summary.evaluate("e => getComputedStyle(e).outlineStyle")
    assert outline == "solid"


def cells_of(table):
    """Return the texts of the rows of a table, the first being its headers."""
    return table.evaluate(
        "table => [...table.rows].map((row) => [...row.cells].map((c) => c.textContent))"
    )


@pytest.mark.parametrize(("metric", "sign"), [("WMD", 1), ("Errors", -1)])
def test_the_worst_categories_come_first(visit, content, metric, sign):
    tab = visit()
    choose(tab, metric=metric)
    tab.get_by_role("button", name="Show all categories").click()
    names, table = list(content.captions), tab.locator("table.categories")
    scores = {name: scores_of(content, name, metric) for name in names}
    expected = []
    for label in {label for of_image in content.objects.values() for label in of_image}:
        ids = [i for i, of_image in content.objects.items() if label in of_image]
        if len(ids) >= FEWEST:
            means = [np.mean([scores[name][str(i)] for i in ids]) for name in names]
            every = [np.mean(list(scores[name].values())) for name in names]
            badness = sign * np.mean(np.subtract(means, every))
            expected.append((badness, label, len(ids), means))
    expected.sort()
    head, *rows = cells_of(table)
    assert head == ["Object", "Images", *names]
    assert len(rows) == len(expected) > 0
    for row, (_, label, images, means) in zip(rows, expected, strict=True):
        assert row[:2] == [label, str(images)]
        assert list(map(float, row[2:])) == pytest.approx(means, abs=0.0006)


def test_the_page_follows_the_chosen_metric(visit, content):
    tab = visit()
    for metric in ("Errors", "CIDEr", "VIFIDEL"):
        choose(tab, metric=metric)
        of_metric = content.comparisons.metrics[metric]
        sign = 1 if of_metric.lower_is_better else -1
        order = sorted(of_metric.systems, key=lambda n: sign * of_metric.systems[n].score)
        assert f"{metric} " in tab.locator(".verdict > p").inner_text()
        rows = cells_of(tab.locator(".ranking"))[1:]
        assert [row[1] for row in rows[:-1]] == order  # three that tie; then the axis
        rounded = [f"{of_metric.systems[n].score:.3f}".removeprefix("0") for n in order]
        assert [row[2] for row in rows[:-1]] == rounded
        assert cells_of(tab.locator(".duels"))[0][1:] == order
        assert tab.locator("figure:visible").count() == 1
        assert tab.locator("#order").inner_text() == f"Images with the worst {metric} come first."
        of_systems = np.array([list(scores_of(content, n, metric).values()) for n in order])
        apart = np.nan_to_num(sign * (of_systems[1:] - of_systems[0]), nan=-np.inf)
        gaps = apart.max(axis=0)
        images = list(content.references)
        first = images[gaps.argmax()]
        card = tab.locator(".gap")
        assert card.locator(".image a").first.inner_text() == f"Image {first}"
        assert content.captions[order[0]][first] == card.locator(".caption").first.text_content()
        tab.evaluate("document.activeElement.blur()")
        tab.keyboard.press("ArrowRight")
        assert card.locator(".of").inner_text().startswith("2 of ")
        tab.keyboard.press("ArrowLeft")
        assert card.locator(".image a").first.inner_text() == f"Image {first}"
        assert ("metric" in tab.url) == (metric != "VIFIDEL")
    choose(tab, metric="WMD")
    tab.wait_for_function("() => location.hash.includes('WMD')")
    again = visit(tab.url)
    assert again.locator(".bar select").input_value() == "WMD"
    assert again.evaluate("scrollY") == 0
    tab.locator(".gap a").last.click()
    tab.wait_for_function("() => location.hash.includes('gap')")
    assert tab.locator(".bar select").input_value() == "WMD"


def test_headers_sort_and_buttons_copy(visit, content):
    tab = visit(permissions=["clipboard-read", "clipboard-write"])
    table = tab.locator(".standings")
    head = table.get_by_role("button", name=re.compile("^WMD"))
    scores = {name: of["WMD"].score for name, of in content.scores.evaluations.items()}
    for direction, downwards in (("descending", True), ("ascending", False)):
        head.press("Enter")
        assert [row[0] for row in cells_of(table)[1:]] == sorted(
            scores, key=scores.get, reverse=downwards
        )
        sorted_by = table.locator("[aria-sort]")
        assert sorted_by.get_attribute("aria-sort") == direction
        assert sorted_by.count() == 1
    table.get_by_role("button", name="System").click()
    assert [row[0] for row in cells_of(table)[1:]] == sorted(scores)

    def copied(style):
        bar = tab.locator("#scores .copy")
        bar.get_by_role("button", name=style).click()
        bar.get_by_text("Copied.").wait_for()
        return tab.evaluate("navigator.clipboard.readText()")

    of_systems = sorted(content.scores.evaluations.items())
    rows = [[name, *(f"{of[metric].score:.4f}" for metric in ORDERED)] for name, of in of_systems]
    copies = [row[: 1 + len(ORDERED)] for row in csv.reader(copied("CSV").splitlines())]
    assert copies == [["System", *ORDERED], *rows]  # fmt: skip
    head, line, *body = copied("Markdown").splitlines()
    assert head.startswith(f"| {' | '.join(['System', *ORDERED])} |".replace("_", "\\_"))
    assert line.startswith("|:--|" + "--:|" * len(ORDERED))
    assert body[0].startswith("| careful | ")
    table.locator("tbody th").first.evaluate("cell => (cell.textContent = 'a|<b>')")
    latex = copied("LaTeX")
    assert "\na\\textbar{}\\textless{}b\\textgreater{} & " in latex
    assert f"\\begin{{tabular}}{{l{'r' * len(ORDERED)}r}}\n\\toprule\nSystem & VIFIDEL" in latex
    assert "Bleu\\_1" in latex
    assert latex.count(" \\\\\n") == 1 + len(scores)


def test_every_control_is_reached_by_the_tab_key(visit):
    tab = visit()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the images"
    tab.keyboard.press("Enter")
    reached = set()
    for _ in range(25):
        tab.keyboard.press("Tab")
        reached.add(tab.evaluate("document.activeElement.name || document.activeElement.tagName"))
    expected = {"q", "system", "against", "below", "object", "captions", "sort", "SUMMARY"}
    assert expected <= reached


@pytest.mark.parametrize("kind", ["made up", "missed", "mentioned"])
def test_a_number_of_captions_leads_to_their_images(visit, content, follow, kind):
    names = list(content.explanations)
    result = {
        "made up": lambda one: {m.category for m in one.mentions if m.verdict.is_wrong},
        "missed": lambda one: set(one.unmentioned),
        "mentioned": lambda one: {m.category for m in one.mentions},
    }[kind]
    tab = visit()
    tab.locator("#things [name=kind]").select_option(kind)
    order = tab.locator("#things thead th.number").all_inner_texts()[1:]
    assert sorted(order) == sorted(names)
    rows = tab.locator(f"#things tbody[data-kind='{kind}'] tr")
    for row in (rows.first, rows.last):
        thing, _, *numbers = row.locator("th, td").all_inner_texts()
        for name, number, cell in zip(order, numbers, row.locator("td").all()[1:], strict=True):
            of_system = [one for one in content.explanations[name] if one.known]
            assert int(number) == sum(thing in result(one) for one in of_system)
            if int(number):
                follow(cell.get_by_role("link"))
                assert tab.locator(".status").inner_text().startswith(f"{number} of 45 images")
                assert tab.locator("#images [name=system]").input_value() == name
    assert tab.evaluate("document.activeElement.id") == "images-title"
    tab.get_by_role("button", name="Reset").click()
    assert tab.locator(".status").inner_text().startswith("45 of 45 images")


def test_two_systems_are_compared_with_the_keys(visit, content):
    tab = visit()
    choose(tab, sort="given", system="terse", beside="careful")
    captions = [content.captions[name] for name in ("careful", "terse")]
    first, second, *_ = content.references
    texts = tab.locator("article").first.locator(".pair .caption").all_inner_texts()
    assert texts == [of_system[first] for of_system in captions]
    tab.locator("article h3 a").first.focus()
    tab.keyboard.press("ArrowRight")
    assert tab.locator("article h3 a:focus").inner_text() == f"Image {second}"
    tab.keyboard.press("Shift+ArrowRight")
    assert tab.locator("#images [name=beside]").input_value() == "dreaming"
    assert tab.locator("article h3 a:focus").inner_text() == f"Image {second}"


def test_equal_captions_are_shown_once(visit, make_content, tmp_path):
    content, path = make_content(images=20, systems=3), tmp_path / "report.html"
    first = next(iter(content.references))
    content.captions["terse"][first] = content.captions["careful"][first]
    path.write_text(render_page(content), "utf-8")
    tab = visit(path.as_uri())
    choose(tab, sort="given")
    names = tab.locator("article").first.locator(".candidates h4").all_inner_texts()
    assert names == ["careful and terse", "dreaming"]


def test_it_reads_without_scripting(visit, content):
    tab = visit(java_script_enabled=False)
    assert "all 45 images are listed" in tab.locator("noscript .note").inner_text()
    for part in ("verdict", "ranking", "standings", "duels", "distributions"):
        assert tab.locator(f".{part}").first.is_visible()
    for part in ("#things table", "#signatures"):
        assert tab.locator(part).first.is_visible()
    tab.locator("#agreement summary").click()
    assert tab.locator(".correlations").is_visible()
    # What only the script can fill is not there.
    hidden = "#images .controls,#images .legend,.pages,.plot,#categories,.gap,.bar select"
    for part in hidden.split(","):
        assert not tab.locator(part).is_visible()
    assert not tab.get_by_role("link", name="Object categories").is_visible()
    # Nor do words and ids look as if they led to the list.
    links = tab.locator("#things td a").evaluate_all(
        """all => all.map((a) => [a, a.parentElement].map(getComputedStyle)).map(([a, around]) =>
            [a.textDecorationLine, a.pointerEvents, a.color === around.color])"""
    )
    assert set(map(tuple, links)) == {("none", "none", True)}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone_and_all_of_it_is_accessible(visit, scheme):
    tab = visit(viewport=PHONE, color_scheme=scheme)
    for details in tab.locator("details").all()[:8]:
        details.evaluate("d => (d.open = true)")
    assert tab.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    tab.mouse.wheel(500, 0)
    assert tab.evaluate("scrollX") == 0
    background = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (max(map(int, re.findall(r"\d+", background))) < 60) == (scheme == "dark")
    check_accessibility(tab)


def test_print_has_what_is_on_the_screen(visit):
    tab = visit(color_scheme="dark")
    tab.locator("details.plan summary").nth(1).click()
    tab.emulate_media(media="print")
    details = tab.locator("details.plan")
    assert details.nth(1).locator("svg").is_visible()
    assert not details.nth(0).is_visible()
    assert not tab.locator("#images .controls").is_visible()
    assert tab.get_by_text("Closed transport plans are not printed").is_visible()
    assert len(shown(tab)) == 20
    gap = tab.locator(".gap .caption").first  # a box would lose the blanks beside marked words
    assert gap.evaluate("caption => getComputedStyle(caption).display") == "block"
    white = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert white == "rgb(255, 255, 255)"
    pdf = tab.pdf(format="A4")
    assert pdf.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) > 3
