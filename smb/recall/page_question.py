"""Which page of evolution a question names: by its kind ("open tasks", "timeline of X"), with what it is to be about.

Owns the wordings a kind of page is asked for in, and the forms of the titles the phases give. Works on text alone, never reads
the bank. A wording must be all of the question: one that asks for a value ("who wrote the story of X") names no page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from smb.recall.late_pattern import LatePattern

LONGEST = 300  # characters of a question that can name a page

_LEAD = (
    r"\W*(?:(?:please|ok|okay|hey|so|and|now)\b\W+)*(?:(?:can|could|would|will) you (?:please )?)?"
    r"(?:(?:show|give|tell|list|print|find|get|display)(?: me| us)?(?: about)?\b\s*|(?:what|which|where|how)(?:['’]s\b| is\b| are\b| was\b| were\b)?\s*"
    r"|i(?:['’]d| would)? (?:want|need|like)(?: to (?:see|know|read))?\s+|let me see\s+|(?:do|have) (?:we|i|you)(?: have)?\s+|(?:are|is) there\s+|(?:see|read|overview of|summary of)\s+)?"
    r"(?:(?:all|any|some|the|my|our|your|an?|full|whole|complete|current|still|of)\b\s*)*"
)
_ABOUT = r"\s*(?:\b(?:of|for|in|on|about|from|with|by|behind|over|to|around|regarding|concerning)\b|:)\s*(?P<about>\S.*?)"
_WHOSE = r"(?P<whose>\S.*?)(?:['’]s?)?\s+"
_TAIL = r"(?:\s+(?:please|so far|over time|over the (?:weeks|months|years)|now|today|right now|at the moment|currently|lately|recently|still|yet))*[\s.!?…]*\Z"
_EXIST = r"(?:\s+(?:that|which|are|is|do we have|do i have|there|exist|remain|still|open|left|outstanding|pending|unresolved|unanswered|unsettled))*"
_TASK = r"(?:tasks?|to-?\s?dos?|to-?do lists?|task lists?|action (?:items?|points?)|plans?|next steps?|things to do)"
_UNDONE = r"(?:(?:open|outstanding|pending|remaining|unfinished|due)\s+)?"
_TOLD = r"(?:questions?|points?|issues?|matters?)"
_OPEN = r"(?:open|unresolved|unanswered|unsettled|unclear|unknown)"
_CHANGE = r"(?:chang(?:ed|es)|new|news|happened|going on)"
_LATELY = r"(?:lately|recently|of late|(?:in |during |over )?(?:the |this )?(?:last|past|this)?\s?(?:few |couple of )?(?:days?|weeks?|months?)|since (?:the )?last (?:week|month|time))"
_CLASHES = r"(?:contradictions?|conflicts?|inconsistenc(?:y|ies)|disagreements?)"


@dataclass(frozen=True, slots=True)
class PageKind:
    """A kind of page. `types` hold it, the most fitting first; a question for one has one of the `marks` (joined by |),
    which spares the others the wordings; `asked` are these, for nothing in particular or (groups `about`,
    `whose`, `other`) for something. `title` are the titles of pages about nothing in particular, the most fitting first, where the
    phase has such; `gathers` says that it lists things of many, so that what is asked for may stand in its text alone."""

    types: tuple[str, ...]
    marks: str
    asked: tuple[LatePattern, ...]
    title: tuple[LatePattern, ...] = ()
    gathers: bool = False


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A reading of a question: a page of `kind` about each of `subjects` (none: about nothing in particular)."""

    kind: PageKind
    subjects: tuple[str, ...]


def _asked(*wordings: str) -> tuple[LatePattern, ...]:
    return tuple(LatePattern(wording, re.IGNORECASE) for wording in wordings)


KINDS: tuple[PageKind, ...] = (
    PageKind(("plan",), "task|to-do|todo|to do|do next|should|must|next step|action|plan|done|doing|outstanding|unfinished|タスク|やること|任务|任務|待办|待辦", _asked(
        rf"{_LEAD}{_UNDONE}{_TASK}{_EXIST}(?:{_ABOUT})?{_TAIL}",
        rf"{_LEAD}{_UNDONE}{_TASK} (?:do|does|has|have|must|should)\s+{_WHOSE}(?:have|has|got|left|open|do)(?: left| open| to do)?{_TAIL}",
        rf"\W*what (?:is|['’]s|remains|needs)?\s?(?:still |left |there )*(?:to be done|to do|doing|undone|unfinished|outstanding)(?:{_ABOUT})?{_TAIL}",
        rf"\W*what (?:do|does|must|should|has|have|is|are)\s+{_WHOSE}(?:still )?(?:(?:have|need|got|supposed) to |to )?do(?: next)?{_TAIL}",
        rf"{_LEAD}{_WHOSE}{_UNDONE}{_TASK}{_TAIL}",
        r"(?:(?P<about>.{1,40}?)(?:の|的))?(?:未完了の|開いている|未完成的|待办|所有)?(?:タスク|やること|任务|任務|待办事项|待办|待辦)(?:一覧|は|有哪些|[はがを])?[。？?]*\Z",
    ), _asked(r"open tasks\Z"), True),
    PageKind(("timeline", "narrative"), "timeline|time line|chronology|history|年表|タイムライン|歴史|历史|歷史|时间线|時間線", _asked(
        rf"{_LEAD}(?:timeline|time line|chronology|history){_ABOUT}{_TAIL}", rf"{_LEAD}{_WHOSE}(?:timeline|chronology|history){_TAIL}",
        r"(?P<about>.{1,40}?)(?:の|的)(?:年表|タイムライン|歴史|历史|歷史|时间线|時間線)[はを。？?]*\Z",
    )),
    PageKind(("narrative", "timeline"), "story|narrative|develop|evol|course|background|come about|unfold|over t|物語|経緯|推移|故事|经过|經過|发展|發展", _asked(
        rf"{_LEAD}(?:story|narrative|development|evolution|course|background){_ABOUT}{_TAIL}", rf"{_LEAD}{_WHOSE}(?:story|background){_TAIL}",
        rf"\W*how (?:did|has|have)\s+(?P<about>\S.*?)\s+(?:developed|develop|evolved|evolve|come about|unfolded|unfold|(?:changed?|progress(?:ed)?)(?= over (?:time|the))){_TAIL}",
        r"(?P<about>.{1,40}?)(?:の|的)(?:物語|経緯|推移|故事|经过|經過|发展|發展)[はを。？?]*\Z",
    )),
    PageKind(("insight",), "chang|new|happened|going on|変わった|変更|变化|變化", _asked(
        rf"\W*(?:what|anything)(?:['’]s| is| has| have|['’]ve)?(?: been)? {_CHANGE}(?: (?:in|with) (?:the |my |our )?(?:notes|bank))?(?: {_LATELY})?{_TAIL}",
        rf"{_LEAD}(?:latest |recent )?(?:changes|news)(?: {_LATELY})?{_TAIL}", r"(?:最近|先週|今週|上周|这周)?(?:何が変わった|の?変更点|有什么变化|有什麼變化).{0,4}\Z",
    ), _asked(r"what changed\b")),
    PageKind(("timeline", "narrative", "synthesis"), "chang", _asked(
        rf"\W*what(?:['’]s| is| has)? changed (?:in|with|about|for|at|on)\s+(?P<about>\S.*?){_TAIL}", rf"{_LEAD}changes (?:in|to|of|at)\s+(?P<about>\S.*?){_TAIL}")),
    PageKind(("contradiction",), "contradict|conflict|inconsisten|disagree|differ|clash|矛盾|食い違い", _asked(
        rf"{_LEAD}(?:open |unresolved )?{_CLASHES}{_EXIST}(?:{_ABOUT})?{_TAIL}",
        rf"\W*(?:what|which notes?|which sources?|where do (?:the |my |our )?(?:notes|sources)) (?:contradicts?|conflicts?|disagrees?|differs?|clash(?:es)?)(?: each other)?(?:{_ABOUT})?{_TAIL}",
        rf"\W*(?:do|does) (?:the |my |our |any )?(?:notes|sources) (?:contradict|conflict|disagree|differ)(?: each other)?(?:{_ABOUT})?{_TAIL}",
        rf"\W*what contradicts\s+(?P<about>\S.*?){_TAIL}", r"(?:(?P<about>.{1,40}?)(?:の|的))?(?:矛盾|食い違い)(?:は|有哪些|[はが]ありますか)?[。？?]*\Z",
    ), gathers=True),
    PageKind(("research", "question"), "open|unresolved|unanswered|unsettled|unclear|unknown|gap|research|find out|look into|investigate|not know|not yet know|don|未解決|未解决|未決", _asked(
        rf"{_LEAD}{_OPEN}\s+{_TOLD}{_EXIST}(?:{_ABOUT})?{_TAIL}", rf"{_LEAD}{_TOLD}\s+(?:that |which )?(?:are|is)?\s?(?:still )?{_OPEN}(?:{_ABOUT})?{_TAIL}",
        rf"\W*what (?:is|are|['’]s|remains?) (?:still )?{_OPEN}(?:{_ABOUT})?{_TAIL}", rf"{_LEAD}(?:gaps?|research agendas?|open ends){_EXIST}(?:{_ABOUT})?{_TAIL}",
        rf"\W*what (?:should|could) (?:we|i) (?:research|find out|look into|investigate)(?: next)?(?:{_ABOUT})?{_TAIL}",
        rf"\W*what (?:do|did) (?:we|i) not (?:yet )?know(?: yet)?(?:{_ABOUT})?{_TAIL}", rf"\W*what don['’]t (?:we|i) (?:yet )?know(?: yet)?(?:{_ABOUT})?{_TAIL}",
        rf"{_LEAD}{_WHOSE}{_OPEN}\s+{_TOLD}{_TAIL}", r"(?:(?P<about>.{1,40}?)(?:の|的))?(?:未解決の(?:質問|問題|疑問)|未解决的?(?:问题|疑问)|未決事項)(?:は|有哪些)?[。？?]*\Z",
    ), _asked(r"open questions\Z", r"open questions: ", r"other open questions\Z"), True),
    PageKind(("specification",), "decision|decide|spec|決定|仕様|决定|规格|規格", _asked(
        rf"{_LEAD}(?:decisions?|specifications?|specs?){_EXIST}(?:{_ABOUT})?{_TAIL}", rf"\W*(?:what|which) (?:decisions? )?(?:did|have|has) (?:we|they|i|been)(?: been)? (?:decided?|made|taken|make)(?:{_ABOUT})?{_TAIL}",
        rf"\W*(?:what|which)(?: decisions?)? (?:was|were|is|has been) (?:decided|made|taken)(?:{_ABOUT})?{_TAIL}", rf"{_LEAD}{_WHOSE}(?:decisions?|specifications?|specs?){_TAIL}",
        r"(?:(?P<about>.{1,40}?)(?:の|的))?(?:決定事項|仕様|决定|決定|规格|規格)(?:は|有哪些)?[。？?]*\Z",
    ), gathers=True),
    PageKind(("project",), "project|プロジェクト|项目|專案", _asked(
        rf"{_LEAD}(?:(?:state|status|progress|page) of (?:the |my |our )?)?project\s*:?\s+(?P<about>\S.*?)(?: going| doing)?{_TAIL}",
        rf"{_LEAD}(?:(?:state|status|progress|page) of (?:the |my |our )?)?{_WHOSE}project(?: going| doing)?{_TAIL}",
        rf"{_LEAD}projects{_EXIST}{_TAIL}", r"(?:プロジェクト|项目|專案)[:：]?\s*(?P<about>\S.*?)[。？?]*\Z",
    )),
    PageKind(("world-model",), "know|notes have|notes say|notes hold|we have|i have|overview|summary|big picture|synopsis|tell", _asked(
        rf"\W*what (?:do|does) (?:we|i|you|(?:the|my|our) notes) (?:know|have|say|hold) (?:about|on|of)\s+(?P<about>\S.*?){_TAIL}",
        rf"{_LEAD}(?:overview|summary|big picture|synopsis)(?: of| on| about)\s+(?P<about>\S.*?){_TAIL}", rf"\W*tell (?:me|us) (?:all |everything )?about\s+(?P<about>\S.*?){_TAIL}",
    )),
    PageKind(("synthesis", "relationship"), "relat|connect|link|tie|common|to do with|together|interact|関係|关系|關係", _asked(
        rf"\W*how (?:do|does|are|is|did)\s+(?P<about>\S.*?)\s+(?:and|to|with)\s+(?P<other>\S.*?)\s+(?:relate[ds]?|connect(?:ed|s)?|linked|fit together|belong together|hang together|interact)(?: to each other| with each other)?{_TAIL}",
        rf"\W*how (?:does|do|is|are)\s+(?P<about>\S.*?)\s+(?:relate[ds]?|connect(?:ed|s)?|linked)\s+(?:to|with)\s+(?P<other>\S.*?){_TAIL}",
        rf"{_LEAD}(?:relation(?:ship)?|connection|link|tie)s? (?:between|of)\s+(?P<about>\S.*?)\s+(?:and|to|with)\s+(?P<other>\S.*?){_TAIL}",
        rf"\W*what (?:connects|links|relates)\s+(?P<about>\S.*?)\s+(?:and|to|with)\s+(?P<other>\S.*?){_TAIL}",
        rf"\W*what (?:do|does|have|has)\s+(?P<about>\S.*?)\s+(?:and|to do with|have to do with)\s+(?P<other>\S.*?)(?:\s+(?:have )?(?:in common|to do with each other))?{_TAIL}",
        r"(?P<about>.{1,30}?)(?:と|和|与|與)(?P<other>.{1,30}?)(?:の関係|的关系|的關係|有什么关系|有什麼關係|はどう関係).{0,6}\Z",
    )),
)
_NOBODY = LatePattern(r"(?:the |my |our )?(?:notes?|bank|everything|anything|all|us|me|we|i|you|it|them|this|that|there|everyone|work)\Z", re.I)
_ASKS = LatePattern(rf"\A{_LEAD}", re.I)
_ARTICLE = LatePattern(r"\A(?:the|my|our|your|an?)\s+", re.I)
_WRAPPER = LatePattern(
    r"\A(?:the story of|timeline of|tasks (?:of|in)|(?:other )?open questions:?|decided:?|project:|around|about|what belongs to)\s+|, as the notes have it\Z|: what several notes agree on\Z", re.I)


def page_questions(text: str) -> Iterator[PageQuestion]:
    """The readings of a question as one for a page, the likeliest first; none for most questions."""
    if len(text) > LONGEST:
        return
    folded = text.casefold()
    for kind in KINDS:
        if not any(mark in folded for mark in kind.marks.split("|")):
            continue
        for wording in kind.asked:
            if found := wording.match(text):
                told = [said.strip(" \"'“”«»") for said in found.groupdict().values() if said is not None]
                about = tuple(_ARTICLE.sub("", said, count=1) for said in told if not _NOBODY.match(said))
                if len(about) == len(told) or kind.gathers:
                    yield PageQuestion(kind, about)
                    break


def without_lead(text: str) -> str:
    """A question without "show me the", "what is" and the like before what it names."""
    return _ASKS.sub("", text, count=1)


def subject_of(title: str) -> str:
    """What a page is about, by its title: what is left without what the phase puts around it."""
    return _WRAPPER.sub("", title)
