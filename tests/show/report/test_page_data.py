import pytest

import vifidel_eval
from vifidel_eval.show.report import gather, render_page
from vifidel_eval.show.report.data import caption_data

TEXT = "A dog runs next to a zebra. It is late, and there is no wolf. \U0001f600 Two zebras."
OBJECTS = {image_id: ["dog", "person"] for image_id in range(1, 5)}
REFERENCES = {image_id: ["a dog on grass", "a dog on grass"] for image_id in OBJECTS}
SHORT = {image_id: "a dog runs" + " fast" * image_id for image_id in OBJECTS}


def content_of(text, **arguments):
    arguments = {"metrics": "VIFIDEL-PRF,VIFIDEL", **arguments}
    run = vifidel_eval.evaluate(
        {"long": dict.fromkeys(OBJECTS, text), "short": SHORT}, REFERENCES, OBJECTS, **arguments
    )
    plan = run.plan
    return gather(run.detail, run.compare(resamples=20), plan.aligned, plan.scorers.values())


@pytest.fixture(scope="module")
def content():
    with pytest.warns(vifidel_eval.VifidelWarning):
        return content_of(TEXT, people=True)


def test_places_are_in_the_units_of_scripts(content):
    long, short, people = caption_data(content)["sentences"]
    assert short == [None] * 4
    assert people == [None] * 4
    first, second, third = long[0]
    in_utf16 = TEXT.encode("utf-16-le")

    def cut(start, end):
        return in_utf16[2 * start : 2 * end].decode("utf-16-le")

    assert [cut(*sentence[:2]) for sentence in long[0]] == [
        "A dog runs next to a zebra.",
        "It is late, and there is no wolf.",
        "\U0001f600 Two zebras.",
    ]
    assert [sentence[2] for sentence in long[0]] == [1, 0, 1]
    assert second[3] == -1
    assert 0 <= first[3] <= 100
    assert cut(*first[4]) == "zebra"
    assert cut(*third[4]) == "zebras"
    assert second[4] == []


def test_the_page_says_how_people_were_made(content):
    page = render_page(content)
    assert "people: one reference of each image (4.0 words on average)" in page


def test_cards_list_sentences_and_what_they_make_up(content, browser):
    tab = browser.new_page()
    tab.set_content(render_page(content))
    candidate = tab.locator("article").first.locator("[data-row='0']")
    loose = candidate.locator(".loose").all_inner_texts()
    assert "Made up: zebra, zebras" in loose
    assert not any("wolf" in text for text in loose)
    listed = candidate.locator(".sentences li").all_text_contents()
    assert [text.strip() for text in listed][1] == (
        "It is late, and there is no wolf. claims nothing"
    )
    assert listed[2].startswith("\U0001f600 Two zebras. P ")
    assert candidate.locator(".sentences .said.absent").all_text_contents() == ["zebra", "zebras"]
    assert candidate.locator(".caption .said.absent").all_text_contents() == ["zebra", "zebras"]
    assert tab.locator("article").first.locator("[data-row='1'] .sentences").count() == 0
    tab.close()
