"""The record of a captioning system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..captions.generated import Answer, captions_in, read_answers
from ..io.image_ids import ImageId


@dataclass(frozen=True)
class System:
    """A captioning system: its name, its caption of each image, and whose sample it is."""

    name: str
    captions: Mapping[ImageId, str]
    sample_of: str | None = None
    #: What captions were read from, of those that are not as written; it may have other images too.
    answers: Mapping[ImageId, Answer] = field(default_factory=dict)

    @property
    def claims(self) -> list[str]:
        """Its captions without those that claim nothing."""
        silent = {i for i, answer in self.answers.items() if answer.why_nothing}
        return [caption for i, caption in self.captions.items() if i not in silent]

    @classmethod
    def read(
        cls,
        name: str,
        texts: Mapping[ImageId, str],
        as_written: bool = False,
        sample_of: str | None = None,
    ) -> System:
        """Return a system with the captions in its texts or, if `as_written`, all of these."""
        answers = None if as_written else read_answers(list(texts.values()))
        if answers is None:
            return cls(name, texts, sample_of)
        captions = dict(zip(texts, captions_in(texts.values(), answers), strict=True))
        read = {i: answer for i, answer in zip(texts, answers, strict=True) if answer is not None}
        return cls(name, captions, sample_of, read)


def pooled(systems: Iterable[System]) -> list[System]:
    """Return systems with all captions of their samples, for what only counts captions' words."""
    captions: dict[str, dict[ImageId, str]] = {}
    answers: dict[str, dict[ImageId, Answer]] = {}
    for system in systems:
        name = system.sample_of or system.name
        of_name, read = captions.setdefault(name, {}), answers.setdefault(name, {})
        of_name.update({(system.name, i): text for i, text in system.captions.items()})
        read.update({(system.name, i): answer for i, answer in system.answers.items()})
    return [System(name, of_name, None, answers[name]) for name, of_name in captions.items()]
