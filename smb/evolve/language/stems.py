"""Words as compared: one stem for all forms of an English word.

Owns irregular forms and spelling variants; the regular ones are the Snowball stemmer's. Never looks at meaning.
"""

from __future__ import annotations

from functools import lru_cache

import snowballstemmer

_IRREGULAR = {
    form: base
    for base, forms in (
        line.split(":")
        for line in """
be:am is are was were been being;have:has had having;do:does did done doing;go:goes went gone;get:got gotten;take:took taken;make:made;
give:gave given;find:found;think:thought;tell:told;become:became;leave:left;feel:felt;put:puts;bring:brought;begin:began begun;keep:kept;
hold:held;write:wrote written;stand:stood;hear:heard;mean:meant;meet:met;run:ran;pay:paid;sit:sat;speak:spoke spoken;lead:led;read:reads;
grow:grew grown;lose:lost;fall:fell fallen;send:sent;build:built;understand:understood;draw:drew drawn;break:broke broken;spend:spent;
rise:rose risen;drive:drove driven;buy:bought;wear:wore worn;choose:chose chosen;sell:sold;eat:ate eaten;drink:drank drunk;fly:flew flown;
forget:forgot forgotten;sleep:slept;win:won;teach:taught;catch:caught;fight:fought;throw:threw thrown;sing:sang sung;swim:swam swum;
ring:rang rung;sink:sank sunk;shrink:shrank shrunk;steal:stole stolen;freeze:froze frozen;wake:woke woken;hide:hid hidden;bite:bit bitten;
shake:shook shaken;show:shown;know:knew known;see:saw seen;say:said;ride:rode ridden;feed:fed;bear:born bore;light:lit;lend:lent;
dig:dug;hang:hung;stick:stuck;sweep:swept;weep:wept;bend:bent;shoot:shot;bind:bound;grind:ground;wind:wound;lay:laid;
forbid:forbade forbidden;deal:dealt;swear:swore sworn;tear:tore torn;seek:sought;prove:proven;sew:sewn;sow:sown;beat:beaten;
man:men;woman:women;child:children;person:people persons;foot:feet;tooth:teeth;mouse:mice;goose:geese;leaf:leaves;knife:knives;
wife:wives;life:lives;shelf:shelves;half:halves;wolf:wolves;loaf:loaves;calf:calves;datum:data;index:indices indexes;
matrix:matrices;analysis:analyses;crisis:crises;criterion:criteria;good:better best;bad:worse worst;far:farther further;
much:more most;little:less least;sibling:siblings;important:importance importantly;die:dies died dying;lie:lies lay lying;tie:ties tied tying
""".replace("\n", "").split(";")
    )
    for form in forms.split()
} | {"lives": "live", "leaves": "leave", "found": "found", "ground": "ground", "wound": "wound", "better": "better", "best": "best",
     "worse": "worse", "worst": "worst", "more": "more", "most": "most", "less": "less", "least": "least", "lay": "lay", "saw": "see"}
_VARIANTS = {
    "favourite": "favorite", "favour": "favor", "colour": "color", "behaviour": "behavior", "neighbour": "neighbor", "flavour": "flavor",
    "harbour": "harbor", "labour": "labor", "licence": "license", "defence": "defense", "centre": "center", "metre": "meter", "litre": "liter",
    "theatre": "theater", "programme": "program", "catalogue": "catalog", "dialogue": "dialog", "grey": "gray", "tyre": "tire",
    "cheque": "check", "aluminium": "aluminum", "jewellery": "jewelry", "cancelled": "canceled", "cancelling": "canceling",
    "cancellation": "cancel", "travelled": "traveled", "traveller": "traveler", "labelled": "labeled", "organise": "organize",
    "centralised": "centralized", "practise": "practice", "enquiry": "inquiry", "mould": "mold", "plough": "plow", "storey": "story",
    "yoghurt": "yogurt", "pyjamas": "pajamas", "e-mail": "email", "e-mails": "email", "e-mailed": "email",
}
_NO_VERBS = frozenset(
    "man woman child person foot tooth mouse goose leaf knife good bad far much little datum be sibling index matrix analysis crisis criterion wife life shelf half wolf "
    "loaf calf important".split())
PAST_FORMS = frozenset(form for form, base in _IRREGULAR.items() if form != base and not form.endswith(("s", "ing")) and base not in _NO_VERBS) | frozenset(
    "put set cut left was were been had did found felt saw lay read".split())
_KEPT = frozenset("container important authority university universal police experiment relative relation organism generation wander".split())  # the stemmer would give these another word's stem
_stemmer = snowballstemmer.stemmer("english")


def spelled(word: str) -> str:
    """A lower-case word in the spelling the lists use (American)."""
    return _VARIANTS.get(word, word)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a lower-case word.

    >>> stem("colours") == stem("color") and stem("written") == stem("writes")
    True
    """
    word = _VARIANTS.get(word, word)
    if word.endswith("s") and word[:-1] in _VARIANTS:
        word = _VARIANTS[word[:-1]]
    if "is" in word[3:]:
        for british in ("ise", "ised", "ises", "ising", "isation"):
            if word.endswith(british) and len(word) > len(british) + 4:
                word = word[: -len(british)] + british.replace("is", "iz", 1)
                break
    word = _IRREGULAR.get(word, word)
    if (base := word.removesuffix("s")) in _KEPT:
        return base
    return _stemmer.stemWord(word) if word.isascii() else word
