"""Answers to *Is there a cat?* in the words of models; what each means is by reading."""

import pytest

from vifidel_eval.annotations import read_objects
from vifidel_eval.errors import AnnotationError

YES = """Yes|YEP!|Yeah, sure.|Absolutely|Of course.|No doubt, there is one.|Without a doubt.
No problem! Yes, there is a cat.|No question about it: a cat sits there.|No wonder you ask: yes.
There is no doubt that a cat is there.|The answer is yes.|I think so.|It appears so.|I see one.
There's a cat on the bed.|Yes. No other animal is there.|Well, yes.|The image contains a cat.
<think>No, wait.</think>Yes.|Answer: Yes</s>"""
NO = """No|Nope|Not at all.|None|Absolutely not.|Of course not!|I don't see one|I can't see a cat.
There isn't any|There are none.|It does not appear so|No cat is visible.|No doubt there isn't one.
Sure! There is no cat here.|The answer is no.|I don\u2019t think so.|Not that I can see.
No problem. No, there is no cat.|The image does not contain a cat.|Unfortunately, no.
I'm afraid not.|There does not appear to be one.|I see no cat.|It isn't.
<think>Yes? A dog.</think>No.|<think>Yes.</think><answer>No</answer>"""
UNSURE = """Yes and no.|Yes, if you mean a toy; otherwise no.|I am not sure|Hmm, not sure.
I cannot tell from here.|No idea|No way to tell.|It is unclear|There might be.|It depends.|Maybe.
I can't see it clearly.|Probably."""
# Another thing, a courtesy, or nothing that is an answer.
NEITHER = "There is a dog.|It is a dog.|No problem.|A cat.|Cats are nice|"


def cases(text, meaning):
    return [(one, meaning) for line in text.split("\n") for one in line.split("|")]


@pytest.mark.parametrize(
    ("answer", "meaning"), [*cases(YES, "yes"), *cases(NO, "no"), *cases(UNSURE, "unsure")]
)
def test_answers(answer, meaning, write):
    objects = read_objects(write({"image_id": 1, "thing": "cat", "answer": answer}))
    there, asked = bool(objects[1]), objects.asked_about(1) or frozenset()
    assert (there, bool(asked), objects.unsure) == {
        "yes": (True, True, 0), "no": (False, True, 0), "unsure": (False, False, 1)
    }[meaning]  # fmt: skip


@pytest.mark.parametrize("answer", NEITHER.split("|"))
def test_what_is_no_answer_is_refused(answer, write):
    with pytest.raises(AnnotationError, match="expected yes, no or unsure"):
        read_objects(write({"image_id": 1, "thing": "cat", "answer": answer}))
