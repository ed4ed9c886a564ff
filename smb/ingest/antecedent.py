"""What the opening of a sentence stands for: "It", "He", "Since then she …", a verb whose subject is left out.

Owns what a sentence is read against and how its pronoun becomes a name. Never resolves a pronoun to what the sentences
before it do not name; a note that is of a day or of an activity is nobody's antecedent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from smb.ingest.lexicon import CONNECTIVES, DANGLING, FIRST_PERSON, FUNCTION_WORDS, PREPOSITIONS
from smb.ingest.pointing import expletive, late_pronoun
from smb.ingest.speech_act import is_finite
from smb.ingest.survey import NameStarts, Prose, Survey

LEANS_ON_BEFORE = -2.0  # what it costs to lean on the sentence before
_HE_SHE = frozenset(("he", "she"))
_LATE = frozenset(("he", "she", "it", "they"))
_OBJECT_FIRST = frozenset("the a an this these all any each every one several many some whether that to if how its".split())
_LEANING = frozenset(("for", "then"))
_PERSON_SUBJECT = re.compile(r"^[A-ZÀ-Þ][\w’'-]*[a-zà-ÿ](?:\s[A-ZÀ-Þ][\w’'-]+)*(?=\s[a-z])")
_POINTS = frozenset("that's this that these those it it's there there's".split())


@dataclass(slots=True)
class Around:
    """What a sentence is read against: who speaks, who is quoted, the sentences before it in its block.

    `memo` and `tiny` tell that the note is so short that its assertions count for more.
    """

    speaker: str
    quoted_by: str
    memo: bool
    tiny: bool
    prose: Prose
    at: int = 0

    @property
    def person(self) -> str:
        """The person the block last named as a subject before this sentence, or ""."""
        for sentence in reversed(self.prose.sentences[: self.at]):
            if (m := _PERSON_SUBJECT.match(sentence)) and m[0].lower() not in FUNCTION_WORDS:
                return m[0]
        return ""

    def led_in(self, own: NameStarts) -> bool:
        """Whether "it" can stand for the note's subject: the sentence before begins with it, or there is none before."""
        for sentence in reversed(self.prose.sentences[: self.at]):
            if not sentence.startswith("It "):
                return bool(own.subject(sentence.lower()))
        return self.prose.place == 0

    def named(self, names: NameStarts) -> str:
        """The known name that last began a sentence of the block before this one, or ""."""
        return next((n for s in reversed(self.prose.sentences[: self.at]) if (n := names.subject(s.lower()))), "")


def standing_alone(
    seen: Survey, sentence: str, words: list[str], first: str, around: Around, own: NameStarts
) -> tuple[str, float] | None:
    """The sentence with a name where it opens with a pronoun or without a subject, and what that takes from its score; None
    for one that can't be understood alone. `first` is its first word without what an apostrophe adds."""
    if first in _HE_SHE:
        who = around.person or (seen.title if seen.kind == "person" else "")
        return (_resolved(sentence, who), -0.25) if who else None
    is_thing = not (seen.is_occasion or seen.is_activity)
    if first == "it":
        return (_resolved(sentence, seen.title), -0.5) if is_thing and not expletive(sentence) and around.led_in(own) else None
    if first in DANGLING:
        return (sentence, -0.75) if first in ("this", "these") and _points_at_a_noun(first, words) else None
    if not _LATE.isdisjoint(words[1:9]) and (late := late_pronoun(sentence))[1]:
        pronoun = sentence[slice(*late)]
        who = around.person if pronoun in _HE_SHE else seen.title if pronoun == "it" and is_thing and around.led_in(own) else ""
        return (f"{sentence[: late[0]]}{who}{sentence[late[1] :]}", -0.25) if who else None
    if first in CONNECTIVES or first in _LEANING or first.endswith("ly") and sentence[len(first) :].startswith(","):
        if not FIRST_PERSON.isdisjoint(words) or len(words) > 1 and words[1] in _POINTS:
            return None
        return sentence, LEANS_ON_BEFORE
    if len(words) > 2 and first.endswith("s") and _without_subject(words, around) and is_finite(first, "it"):
        if around.prose.place > 2 or len(around.prose.block.headings) > 1:
            return None
        return f"{seen.title} {sentence[0].lower()}{sentence[1:]}", 0.0  # "Returns the …": the note's subject does
    return sentence, 0.0


def _points_at_a_noun(first: str, words: list[str]) -> bool:
    """Whether "this" stands before a noun ("This rule was …") rather than for a thing ("This was …", "This gave …")."""
    if len(words) < 2 or words[1] in FUNCTION_WORDS:
        return False
    return first != "this" or not (words[1].endswith(("s", "ed")) or is_finite(words[1], ""))


def _without_subject(words: list[str], around: Around) -> bool:
    """Whether a verb that opens a sentence has its object next ("Returns the …", "Runs checks on …" under the title)."""
    after = words[1]
    if after == "and" and is_finite(words[2], "it") or after in _OBJECT_FIRST:
        return True
    return not around.prose.place and not around.at and after not in PREPOSITIONS and not is_finite(after, words[0])


def _resolved(sentence: str, who: str) -> str:
    """The sentence with its opening pronoun replaced by the name it stands for."""
    pronoun, rest = re.split(r"(?=[\s’'])", sentence, maxsplit=1)
    if rest[:2] in ("'s", "’s"):
        rest = " is" + rest[2:]
    return who + rest
