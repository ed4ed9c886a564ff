"""What some words say of somebody without saying it: a vegetarian eats no meat, an only child has no sister.

Owns a few kinds of things one can have none of, their members, and the words that rule them out. Never weighs whose claim is right.
"""

from __future__ import annotations

from collections.abc import Collection

from smb.evolve.language.synonyms import concept


def _concepts(text: str) -> frozenset[str]:
    return frozenset(map(concept, text.split()))


_MEMBERS = {
    "sibling": _concepts("sibling brother sister siblings"),
    "child": _concepts("child son daughter kid"),
    "spouse": _concepts("spouse husband wife"),
    "pet": _concepts("pet dog cat hamster rabbit parrot budgie goldfish tortoise"),
    "meat": _concepts("meat beef pork chicken steak ham bacon lamb turkey duck veal sausage salami burger fish salmon tuna venison mutton schnitzel meatball"),
    "alcohol": _concepts("alcohol wine beer whisky whiskey vodka gin rum champagne cider cocktail brandy prosecco schnapps"),
    "animal product": _concepts("milk cheese butter egg yogurt cream honey"),
}
_RULED_OUT = {  # word → what who is so called has none of
    "vegetarian": ("meat",), "vegan": ("meat", "animal product"), "teetotaller": ("alcohol",), "teetotaler": ("alcohol",), "teetotal": ("alcohol",), "sober": ("alcohol",), "abstinent": ("alcohol",),
    "childless": ("child",), "unmarried": ("spouse",), "bachelor": ("spouse",), "single": ("spouse",), "petless": ("pet",), "only-child": ("sibling",),
}
_TAKEN = frozenset(("meat", "alcohol", "animal product"))
_TAKING = _concepts("eat drink order have enjoy taste try devour finish sip share cook love")
_HAVING = _concepts("have own keep get drink eat touch")


def ruled_out(forms: Collection[str], denied: frozenset[str]) -> frozenset[str]:
    """The kinds a claim says its subject has none of. `forms` are its words, `denied` the concepts under its negation (empty without)."""
    said = denied - _HAVING
    if not said:
        return frozenset(kind for form in forms for kind in _RULED_OUT.get(form, ()))
    return frozenset(kind for kind, members in _MEMBERS.items() if said <= members)


def implied(owned: frozenset[str], taken: frozenset[str], concepts: frozenset[str]) -> frozenset[str]:
    """The kinds a claim shows its subject to have: `owned` concepts stand right after "X's"; what one eats or drinks is `taken`, the objects
    of the claim, where one of `concepts` is a verb of taking."""
    has = {kind for kind, members in _MEMBERS.items() if kind not in _TAKEN and members & owned}
    if _TAKING & concepts:
        has |= {kind for kind in _TAKEN if _MEMBERS[kind] & taken}
    return frozenset(has)
