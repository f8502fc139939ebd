"""An adversary: ways of saying a thing so that it might be overlooked.

`said` wraps a mention in constructions that suppose, suggest, ask, quote or seem to deny. None of
them says that the thing is not there, so that each is a mention. Ways are separated by bars. They
have ``{a}`` for the thing with its article, ``{n}`` for its name, ``{s}`` for its plural, and ``⏎``
for the end of a line.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple


def _ways(text: str) -> list[str]:
    return [way for line in text.strip().splitlines() for way in line.split(" | ")]


#: Clauses that mention a thing.
CLAUSES = _ways("""
{a} stands there | {s} graze | there is {a} that might belong to someone
the presence of {a} suggests a busy day | you may also notice {a} on the left
the {n} seems to be enjoying the moment | next to it, {a} adds a touch of color
a cozy place with {a} creates a warm atmosphere | a beauty shop holds {a} | a man and {a} wait
man on {n} | people who like {a} wait | a sense of calm comes from {a}
it is designed to hold {a} | the composition draws the eye to {a} | a man -- and {a} -- walk
a man/{n} stands there | what matters (with {a}) is light | for {a} to rest, shade is there
some {s}, several people and light | a {n}'s head is visible
""")

#: What may be put around any of them.
FRAMES = _ways("""
{clause} | perhaps {clause} | it looks as if {clause} | if {clause}, nobody would be surprised
is it true that {clause}? | one could say that {clause} | someone says: "{clause}"
while it is late, {clause} | without a doubt, {clause} | no doubt {clause}
no matter what, {clause} | not surprisingly, {clause} | nobody denies that {clause}
no. {clause} | it is empty of dust, and {clause} | there is no rain, and {clause}
there is no rain, only this: {clause}
""")

#: Clauses with a negation that denies nothing, or not the thing.
NEGATED = _ways("""
there is, without a doubt, {a} | not only {a} but also a friend is there
nothing but {a} is there | a person, not alone, with {a} | no less than three {s} are there
there are no fewer than two {s} | one cannot miss the {n} | you will not find a bigger {n}
not far from {a} stands a friend | no one but {a} is there | it is not true that there is no {n}
it is false that the image shows no {n} | nobody says that there is no {n}
I doubt that there is no {n} | whoever says there is no {n} is wrong
there is no picture without {a} | there is no {n} without stripes | it isn't without {a}
never without {a}, the person walks | without {a} the scene would be dull
without the {n}, it would be boring | no wonder {s} are popular
neither alone nor bored, {a} waits | neither the {n} nor the person is alone
without question {s} are there | there is no end to the {s} | there is no shortage of {s}
there is no lack of {s} | this is not the only {n} | not just {s}, but happy ones
there is nothing here except {a} | devoid of everything but {s}
no other animal than {a} is here | with no fear, {a} stands | without moving, {a} stares
it lacks nothing, thanks to {a} | it does not lack {s} | free of worries, {a} rests
the {n} is free of dirt | there is not one {n} but many | no {n} could be happier
no {n} has ever been so calm | no {n} sits still here | no {n} in the picture is asleep
there is no {n} like this one | there is no {n} as happy as this one
there is no {n} that is not happy | there is no better {n} | do not forget the {n}
the picture does not show {a} alone | the image shows not one but many {s}
the person does not see the {n} | the {n} isn't moving | {a} has no tail
the {n} has no worries | {a} without a tail | a street without cars and with {a}
there are no people and {s} are alone | there is no person near {a} | no person but {s} nearby
there's no denying the {n} | there is no mistaking {a} | no stranger to {s}, the person smiles
can you not see {a}? | isn't there {a}? | does the image not show {a}? | who would not love {a}?
not all {s} are awake | none of the {s} move | no {n} seen here is asleep | no {n} nearby sleeps
no {n} in the picture moves | there is no {n} visible that is calm
nowhere is {a} as calm as here | the {n} is not visible to the person but to us
the tail of the {n} is not visible | the {n} cannot be seen by the person
the {n} is missing a leg | {a} that is not moving, which is not rare | it is not {a} but two {s}
this is not the {n} of a friend | instead of one {n}, there are two {s}
not {a} but two {s} stand there | unless one counts {a}, it is quiet
instead of one {n} there are two | rarely do {s} stand so
""")

#: What only resembles a construction that claims nothing: a depiction, a comparison, a purpose.
INCOMPLETE = _ways("""
a poster and {a} | a poster hangs near {a} | {a} with a poster of a person | a picture of {a}
this is a photo of {a} | the picture shows {a} | it looks like {a}
what looks like {a} is on the left | there seems to be {a} like that | a toy and {a}
a wooden bench and {a} | a shirt and {a} on it | people wait, and {a} walks
a person waits with {a} | for a walk, {a} is there | unlike yesterday, {a} is here
as calm as ever, {a} stands | more than one {n} is there | {a} bigger than a person
the photographer and {a} | taken by surprise, {a} runs | {a} is used to people | {a} that thinks
it may be {a} | a person talks, and about ten {s} come | a bed of flowers and {a}
a shirt with a pocket, and {a} on the grass | a shirt with a pocket and {a}
a sign and {a} printed in red | {a} painted by a friend | the {n} painted on both sides
a mug, and {a} featuring stripes | a bowl for water and {a} | a bed for the {n}
a chair and, for a while, {a} | {a} instead of a person | {a} rather than a person
rather calm than wild, {a} waits | the person taking {a} home
the person taking the photo and {a} | {a} behind the camera | as if it were late, {a} sleeps
designed to hold {a}, it is large | {s} designed for people | {n} number two
this is {n} number one of three | a plush cushion and {a} | a stuffed bag and {a}
there used to be a fence, and {a} stands there | the {n} is out of reach | {a}⏎and a person
a person and⏎{a} | {a} close to a person | {a} cut in half | {a} due north
{a} first seen yesterday | a person sits at the {n} reading | a person near the {n} eating
a person and {n} combination | a white and a brown {n} | {a} and a person in the same plane
the word is out: {a} is here | a dog free of fear and {a} | {a} shaped like a ball
a large {n} statue and {a} | The {n} Stands Near The Bench | {a} eating grass | {s} like people
it reads: "for {s}"
""")

#: Things with their plurals; none is in the scene.
THINGS = {
    "zebra": "zebras",
    "umbrella": "umbrellas",
    "bus": "buses",
    "knife": "knives",
    "sheep": "sheep",
    "wine glass": "wine glasses",
    "hot dog": "hot dogs",
}


class Said(NamedTuple):
    """A text that mentions a thing: the way, the thing, and the text."""

    way: str
    thing: str
    text: str


def said(before: str = "") -> Iterator[Said]:
    """Yield every way of saying each thing, behind some text."""
    framed = (frame.format(clause=clause) for frame in FRAMES for clause in CLAUSES)
    for way, (name, plural) in itertools.product([*framed, *NEGATED, *INCOMPLETE], THINGS.items()):
        article = "an" if name[0] in "aeiou" else "a"
        text = way.format(a=f"{article} {name}", n=name, s=plural).replace("⏎", "\n")
        end = "" if text[-1] in '?"' else "."
        yield Said(way, name, f"{before}{text[0].upper()}{text[1:]}{end}")
