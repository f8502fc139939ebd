"""What language models write around captions, by kinds; and texts that are captions as they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vifidel_eval.captions.generated import read_answer

DOG = "A dog on a beach."
OTHER = "Maybe a cat, or a zebra?"


def listed(texts):
    """Return texts that are separated by bars or line breaks."""
    return [text for line in texts.splitlines() for text in line.split("|")]


REASONED = [
    *(
        f"<{name}>{OTHER}</{name}>\n\n{DOG}"
        for name in (
            *("think", "thinking", "THINK", "Thought", "thoughts", "reasoning", "reflection"),
            *("scratchpad", "inner_monologue", "chain-of-thought", "seed:think", "analysis"),
        )
    ),
    f'<think type="deep" id=3>{OTHER}</think>{DOG}',
    f"<think>{OTHER}<think>{OTHER}</think>{OTHER}</think>{DOG}",
    f"<think>{OTHER}</think><reflection>{OTHER}</reflection>{DOG}",
    f"<think>\n\n</think>\n\n{DOG}",
    f"{DOG}<think>{OTHER}",
    f"{OTHER}\n</think>\n\n{DOG}",
    f"[THINK]{OTHER}[/THINK]{DOG}",
    f"◁think▷{OTHER}◁/think▷{DOG}",
    f"<|begin_of_thought|>{OTHER}<|end_of_thought|>\n<|begin_of_solution|>{DOG}<|end_of_solution|>",
    f"<|START_THINKING|>{OTHER}<|END_THINKING|><|START_RESPONSE|>{DOG}<|END_RESPONSE|>",
    f"<|channel|>analysis<|message|>{OTHER}<|end|><|start|>assistant<|channel|>final<|message|>"
    f"{DOG}<|return|>",
    f"analysis{OTHER}assistantfinal{DOG}",
    f"<|channel>thought\n{OTHER}<channel|>{DOG}",
    f"Reasoning: {OTHER}\n\nAnswer: {DOG}",
    f"<think>{OTHER}</think><answer>{DOG}</answer>",
    f"<think>{OTHER}</think><answer><|begin_of_box|>{DOG}<|end_of_box|></answer>",
    f"<seed:think>{OTHER}</seed:think>{DOG}<seed:eos>",
    f"[|assistant|]<thought>{OTHER}</thought>{DOG}[|endofturn|]",
    f"a zebra, no. a dog </think> {DOG}",
    f"<reasoning_content>{OTHER}</reasoning_content>{DOG}",
    f"## Reasoning\n{OTHER}\n\n## Caption\n{DOG}",
    f"I look at it. {OTHER}\n\n**Final caption:** {DOG}",
    f"Okay, let me see. {OTHER}\n\nCaption: {DOG}",
    f"<think>{OTHER}</think>{DOG}</think>",
    f"assistantanalysis {OTHER}assistantfinal{DOG}",
    f"<unused94>thought\n{OTHER}<unused95>{DOG}",
    f"<details><summary>Thinking</summary>{OTHER}</details>{DOG}",
    f"<think>{OTHER}<answer>{DOG}</answer>",  # the thought never ends
    f"<think>I write <answer>{OTHER}</answer>.</think><answer>{DOG}</answer>",
    f"<SUMMARY>{OTHER}</SUMMARY><REASONING>{OTHER}</REASONING><CONCLUSION>{DOG}</CONCLUSION>",
]
AROUND = [
    f"<answer>{DOG}</answer>",
    f"<caption>{DOG}",
    f"So it is \\boxed{{\\text{{{DOG}}}}}",
    f"{DOG}<|im_end|>\n<|im_start|>user\n{OTHER}",
    f"{DOG}</s>",
    f"{DOG}<|eot_id|>{OTHER}",
    f"{DOG}<end_of_turn>\n",
    f"{DOG}<\uff5cend\u2581of\u2581sentence\uff5c>",
    f"<s> {DOG} </s>",
    f"<|im_start|>assistant\n{DOG}<|im_end|>",
    f"<|start_header_id|>assistant<|end_header_id|>\n\n{DOG}<|eot_id|>",
    f"system\nYou see.\nuser\n{OTHER}\nassistant\n{DOG}",
    f"[INST] {OTHER} [/INST] {DOG}</s>",
    f"USER: <image>\n{OTHER}\nASSISTANT: {DOG}",
    f"{DOG}\nUSER: {OTHER}\nASSISTANT: {OTHER}",
    f"Here is a caption: {DOG}",
    f"Sure! Here's a description of the image:\n\n{DOG}",
    f"Based on the image, here is a detailed description: {DOG}",
    f"Caption: {DOG}",
    f"**Caption:** {DOG}",
    f"Final Answer: {DOG}",
    f"The caption is: {DOG}",
    f"## Description\n{DOG}",
    f"Certainly! {DOG}",
    f"A caption for this image could be: {DOG}",
    f"Below is a caption for the photo: {DOG}",
    f"I suggest the following caption: {DOG}",
    f"> {DOG}",
    f"<think/>{DOG}",
    f"„{DOG}“",
    f'["{DOG}"]',
    f'{{"reasoning": "{OTHER}", "final_caption": "{DOG}"}}',
    f'Here is the JSON:\n```json\n{{"caption": "{DOG}"}}\n```',
    f"{DOG}\n\nLet me know if you'd like a longer one!",
    f"<|turn>model\n{DOG}<turn|>",
    f"<|im_start|>assistant<|im_sep|>{DOG}<|im_end|>",
    f"```\n{DOG}\n```",
    f"```text\n{DOG}\n```",
    f'Okay, here is the caption:\n\n"{DOG}"',
    f"\u201c{DOG}\u201d",
    f"**{DOG}**",
    f"'{DOG}'",
    f"I'd be happy to help! Here's a caption: {DOG}",
    f"Here you go: {DOG}",
    f'{{"caption": "{DOG}"}}',
    f'```json\n{{"description": "{DOG}"}}\n```',
    f"{DOG}[EOS]",
]
REFUSALS = listed("""I'm sorry, but I can't help with identifying people in this photo.
Sorry, but I am unable to assist with that request.
I'm unable to view images directly. Please provide a description of the picture.
I cannot identify the person in this image.|As an AI language model, I cannot see images.
As an AI, I don't have the ability to view images.|I can\u2019t assist with that.
I apologize, but I cannot provide a description of this image.
Unfortunately, I'm not able to process images.|I'm sorry.
I am an AI assistant and cannot see pictures.
There is no image attached to your message, so I can't describe it.
While I appreciate your request, I cannot generate this caption.
I won't be able to describe this image due to privacy concerns.
I do not have access to the image.|I must decline to describe this image.
Unable to describe the image.
I'm not able to identify people based on their appearance. However, I can help with others.
I'm just a text-based AI, so I can't see pictures. Could you describe it?
I am not sure what this image shows.
Hello! I'm sorry, but I cannot view the image. Please upload it again.
I'm sorry, Anna. I'm afraid I can't do that.
I'm sorry, but as an AI I can't recognise the man on the horse.
I don't see any picture in your message.|Please upload the image so I can describe it.
The image could not be processed.|There doesn't seem to be an image attached.
Sorry, that's not something I can help with.|I must respectfully decline.
It is against my guidelines to name people.|Not able to describe this.
I cannot comply with this.""")
CAPTIONS = listed("""A dog <3 a cat|A man thinking about a cat|a a a .|A sign that says "I'm sorry".
A sign that says sorry we cannot help you|Two dogs: one black, one white.
Here are two dogs: one black.|A poster for Caption: the movie
A caption below the photo of a dog reads: Spot.|A sign with the following answer: zebra
A sign with <think> on it and a zebra below it.|A shirt that says </think> on a man with a zebra.
A poster with the word "<think>" and a zebra|A dog in <box> a red box </box>
A quiz card that says <answer> beside a dog.|Let me know if you see a dog
{"caption": "A dog.", "description": "A dog sits."}|A clock that reads 12:30|The image: a dog
a <b>dog</b>|A man [in red] rides|Human: a man|{a dog} in braces|I'd like a dog.|Happy dogs run.
Happy to see its owner, a dog jumps.
I cannot identify the person, but the image shows a man in a hat.
I'm sorry, I can't tell who it is. The image shows a man.|A man who cannot see walks with a dog.
Sorry! board game on a table|Sorry we are closed sign on a door
I can't see any zebra in the image.|I don't see a dog.|As an AI, I see a dog on a beach.
There is no dog.|There is no image on the wall.
I cannot identify the person; he is wearing a red shirt.|Unfortunately the dog is wet.
Please do not feed the ducks sign|I can't wait to ride my bike
I am unable to look away from the zebra|I'm unable to resist this pizza.
I'm not sure if this is a zebra or a horse.|I was not able to catch the frisbee.
I can't help smiling at this dog.|I won't share my pizza.
I refuse to leave the couch, says the cat.|I have no pizza left.
We are not able to see the man's face.|It is not possible to see the dog's face.
We must not disturb the sleeping cat.|A picture that is not attached to the wall.
The photo frame is not open.|As an assistant holds the lamp
I'm sorry I'm late, reads the note beside a cake.|I am an assistant referee on a soccer field.
It is against the wall that the bike leans.|This photo was not processed with a filter.
I cannot identify people, but I can describe a man with a dog on a beach.|It is a nice picture.""")


@pytest.mark.parametrize("text", [*REASONED, *AROUND])
def test_the_caption_is_what_is_left(text):
    answer = read_answer(text)
    assert (answer.caption, answer.why_nothing, answer.written) == (DOG, "", text)
    assert ("reasoning" in answer.left_out) == (text in REASONED)


@pytest.mark.parametrize("text", CAPTIONS)
def test_a_caption_stays(text):
    assert read_answer(text) is None


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_claims_nothing(text):
    assert read_answer(text).why_nothing == "a refusal"
    both = read_answer(f"<think>{OTHER}</think>{text}")
    assert (both.caption, both.counted) == ("", ("reasoning", "no_claim"))
    assert read_answer(f"{text} A dog sleeps on a sofa.") is None  # which describes something


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("...", "empty"),
        ("<answer></answer>", "empty"),
        ("Sure!", "empty"),
        ('{"caption": null}', "empty"),
        ("<think>A dog.", "only reasoning"),
        ("<think>A dog.</think>", "only reasoning"),
        ("A dog.</think>", "only reasoning"),
        ("<SUMMARY>A cat</SUMMARY><CAPTION>A dog.</CAPTION><REASONING>A cat", "only reasoning"),
        ("<think>A dog.</think><answer> </answer>", "only reasoning"),
    ],
)
def test_nothing_is_left(text, why):
    answer = read_answer(text)
    assert (answer.caption, answer.why_nothing) == ("", why)


@given(st.text(st.sampled_from("<>|/[]`\\{}:\"'*\n think answerI cannot sorry◁▷"), max_size=60))
def test_any_text_has_a_caption_that_is_stable(text):
    answer = read_answer(text)
    assert answer is None or answer.counted
