"""What the wording of a question asks for: its operation, what it asks the value of, and whether it tells a time."""

from __future__ import annotations

import re

from smb.recall.late_pattern import LatePattern

IMPLIED: tuple[tuple[LatePattern, tuple[str, ...]], ...] = (  # what a question asks the value of without naming it
    (
        LatePattern(r"\bwhere\b|どこ|哪里|哪裡|在哪", re.I),
        ("location", "place", "address", "town", "city", "場所", "位置", "地点"),
    ),
    (LatePattern(r"\bhow (?:wide|broad)\b", re.I), ("width",)),
    (LatePattern(r"\bhow long\b", re.I), ("length", "duration")),
    (LatePattern(r"\bhow (?:high|tall)\b", re.I), ("height",)),
    (LatePattern(r"\bhow deep\b", re.I), ("depth",)),
    (LatePattern(r"\bhow (?:heavy|much does .{1,40} weigh)\b", re.I), ("weight",)),
    (LatePattern(r"\bhow (?:hot|warm|cold)\b", re.I), ("temperature",)),
    (LatePattern(r"\bhow (?:big|large)\b", re.I), ("size", "capacity")),
    (LatePattern(r"\bhow fast\b", re.I), ("speed",)),
    (LatePattern(r"\bhow old\b", re.I), ("age",)),
    (LatePattern(r"\bhow (?:much|expensive)\b|いくら|多少钱|多少錢", re.I), ("cost", "price", "値段", "価格", "价格", "價格")),
    (
        LatePattern(r"\bwho (?:owns|is in charge|is responsible|runs|leads|manages|maintains)\b", re.I),
        ("owner", "lead", "manager", "maintainer"),
    ),
)

COUNT = LatePattern(
    r"\b(how many|number of|count of|how often|how many times)\b|いくつ|何[人個件本枚台匹冊回]|多少[个個人件台本次]|[几幾][个個人件台本次]",
    re.IGNORECASE,
)
ARITHMETIC = LatePattern(
    r"\b(how long (?:ago|after|before|between|since|until|did|has|have|had|was|were|is|does|will)|how (?:many|"
    r"much) (?:days?|weeks?|months?|years?|hours?|minutes?)|"
    r"(?:days|weeks|months|years|time) (?:between|passed|elapsed)|how old)\b|何(?:日間?|週間|か月|ヶ月|カ月|年間?)(?!に|の)|どのくらい|どれくらい|多久|多少天|[几幾多少](?:天|周|个月|個月|年)",
    re.IGNORECASE,
)
LOOKUP = LatePattern(
    r"\b(when|since when|(?:what|which) (?:date|day|month|year|time|week|quarter|decade|century)|on what (?:date|day)|date of)\b|いつ|什么时候|什麼時候|何时|何時|哪(?:一?天|一?年|个?月)",
    re.IGNORECASE,
)
LIST = LatePattern(
    r"^\W*(?:list|name (?:all|the|every)|enumerate|show (?:me )?(?:all|every))\b|\b(?:what|which) (?:are|were) (?:all|"
    r"the (?:names|members|items|parts|steps|kinds|types))\b|"
    r"\ball (?:of )?the\b|^\W*who are\b|^\W*(?:what|which) are (?:the|our|my)\b|^\W*(?:which|what) (?:[\w-]+ ){0,2}[\w-]{2,}s (?:are|do|does|did|have|has|exist|were)\b|"
    r"^\W*(?:which|what) people\b|\bwhat (?:depends|relies|rests) on\b|^\W*what does .{2,60} (?:contain|consist of|include|depend on|rely on|rest on|link to|reference)\b"
    r"|列出|列举|列舉|哪些|一覧|すべての|全ての",
    re.IGNORECASE,
)

OVERVIEW = LatePattern(  # asks for no one thing: what is known of it, how it came to be, what doesn't fit together
    r"\bwhat (?:do|does|did) (?:we|i|you|the (?:notes|bank)|my notes|our notes) (?:know|have|say|hold)\b(?: (?:about|on|of))?|\btell me (?:all |everything )?about\b"
    r"|\b(?:overview|summary|big picture|synopsis|synthesis) (?:of|on|about)\b|\bthe (?:timeline|history|story|evolution) (?:of|behind)\b"
    r"|^\W*(?:what|which|are there|any|list|show|tell|give)\b.{0,30}\b(?:insights?|themes?|patterns?|trends?) (?:of|on|in|about|across|over)\b"
    r"|^\W*(?:please )?(?:summari[sz]e|sum up|outline|recap)\b|\bhow (?:did|has|have) .{2,80} (?:develop|evolve|come about|unfold|(?:change|progress)(?:d)? over (?:time|the))"
    r"|\bwhat contradicts\b|\bcontradict(?:s|ions?|ing|ory)?\b|\b(?:disagree|conflict|differ)(?:s|ing)? (?:about|on|over)\b|\b(?:notes|sources) (?:disagree|conflict|differ)\b"
    r"|\bopen (?:questions?|points?|issues?)\b|\bwhat (?:is|are|remains?) (?:still )?(?:open|unresolved|unclear|unknown|unanswered)\b|\bwhat (?:should|could) (?:we|i) (?:research|find out|look into|investigate)\b"
    r"|\bgaps? in\b|について(?:教え|知|まと|何)|概要|まとめて|要約|矛盾|食い違|経緯|推移|どう(?:変わっ|発展)|未解決|关于.{1,30}(?:知道|了解|什么)|關於.{1,30}(?:知道|了解|什麼)|概述|概况|總結|总结"
    r"|自相矛盾|互相矛盾|演变|演變|如何(?:发展|發展|变化|變化)|尚未解决",
    re.IGNORECASE,
)

OVERVIEW_KINDS: tuple[tuple[LatePattern, frozenset[str]], ...] = (  # what an overview asks for, and the types that are made for it
    (LatePattern(r"\b(?:how (?:did|has|have)|history|story|evolution|develop\w*|unfold\w*|timeline|over time)\b|経緯|推移|演变|演變|发展|發展|变化|變化|どう(?:変わっ|発展)", re.I),
     frozenset({"narrative", "timeline"})),
    (LatePattern(r"contradict|disagree|conflict|\bdiffer|矛盾|食い違", re.I), frozenset({"contradiction"})),
    (LatePattern(r"\bopen\b|unresolved|unclear|unknown|unanswered|research|find out|look into|investigate|\bgaps?\b|未解決|尚未解决", re.I), frozenset({"question", "research"})),
    (LatePattern(r"\bknow|tell me|overview|summ?ar|sum up|outline|recap|picture|synopsis|synthesis|について|概要|まとめ|要約|关于|關於|概述|概况|总结|總結", re.I),
     frozenset({"world-model", "synthesis"})),
    (LatePattern(r"\b(?:insights?|themes?|patterns?|trends?)\b", re.I), frozenset({"insight", "synthesis", "abstraction", "meta-concept"})),
)
OVERVIEW_WORDS = LatePattern(  # which say that, and nothing of what it is to be about
    r"(?:know|known|say|tell|overview|summary|picture|synopsis|synthes[ie]s|insights?|themes?|patterns?|trends?|timeline|history|story|evolution|summari[sz]e|sum|outline|recap"
    r"|develop|evolve|unfold|contradict(?:s|ions?|ing|ory)?|disagree(?:s|ing)?|conflict(?:s|ing)?|differ(?:s|ing)?|open|questions?|unresolved|unclear|unknown|unanswered"
    r"|notes?|sources?|research|investigate|find|look|gaps?)\Z", re.IGNORECASE)

TELLS_TIME = LatePattern(
    r"\b(yesterday|today|tonight|tomorrow|ago|(?:last|next|this|past) (?:week|month|year|morning|weekend|night|spring|"
    r"summer|autumn|fall|winter|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|"
    r"april|june|july|"
    r"august|september|october|november|december|(?:since|until|recently|earlier)|[12]\d{3}|\d{1,2}:\d{2}|\d+ (?:day|"
    r"week|month|year|hour)s?)\b",
    re.IGNORECASE,
)
