"""The English words a question is made of rather than about, and the words that tell time.

Owns closed word lists of the general language. Holds no topic word and no name: a list fitted to a data set loses on
the next one.
"""

from __future__ import annotations

import re

QUESTION_WORDS = frozenset(
    "what whats when where who whom whose which why how did does do is are was were has have had would could might should can "
    "will shall may must likely kind kinds type types sort sorts many much".split()
)
STOP_WORDS = (
    frozenset(
        "a about above after again against all also am an and any as at be because been before being below between both "
        "but by cannot "
        "doing down during each ever few for from further get gets got had has have having he her here hers herself him "
        "himself his i if in "
        "into it its itself just me more most my myself no nor not now of off on once only or other our ours ourselves "
        "out over own "
        "please same she so some such tell than that the their theirs them themselves then there these they this those "
        "through to too "
        "under until up us very we were while with you your yours yourself yourselves s t d ll m re ve don didn doesn "
        "isn aren wasn "
        "weren hasn haven hadn won wouldn couldn shouldn".split()
    )
    | QUESTION_WORDS
)

COUNT = re.compile(r"\b(how many|number of|count of|how often|how many times)\b", re.IGNORECASE)
ARITHMETIC = re.compile(
    r"\b(how long (?:ago|after|before|between|since|until|did|has|have|had|was|were|is|does|will)|how (?:many|"
    r"much) (?:days?|weeks?|months?|years?|hours?|minutes?)|"
    r"(?:days|weeks|months|years|time) (?:between|passed|elapsed)|how old)\b",
    re.IGNORECASE,
)
LOOKUP = re.compile(
    r"\b(when|since when|(?:what|which) (?:date|day|month|year|time|week|quarter|decade|century)|on what (?:date|day)|date of)\b",
    re.IGNORECASE,
)
LIST = re.compile(
    r"^\W*(?:list|name (?:all|the|every)|enumerate|show (?:me )?(?:all|every))\b|\b(?:what|which) (?:are|were) (?:all|"
    r"the (?:names|members|items|parts|steps|kinds|types))\b|"
    r"\ball (?:of )?the\b",
    re.IGNORECASE,
)

TELLS_TIME = re.compile(
    r"\b(yesterday|today|tonight|tomorrow|ago|(?:last|next|this|past) (?:week|month|year|morning|weekend|night|spring|"
    r"summer|autumn|fall|winter|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|"
    r"april|june|july|"
    r"august|september|october|november|december|(?:since|until|recently|earlier)|[12]\d{3}|\d{1,2}:\d{2}|\d+ (?:day|"
    r"week|month|year|hour)s?)\b",
    re.IGNORECASE,
)
