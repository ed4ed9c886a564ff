"""How well an object is verified: worked out from its evidence and from what people signed, never stored.

REQUIREMENTS.md, section 2, item 7. Owns the sign-off as a value and the rule that turns evidence and sign-offs into one
of five words. The words weigh rank only; what is current is `judge`'s, which also reads rejections.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from smb.model.identity import fold_proposition, short_hash
from smb.model.objects import Verification

MULTIPLIER = {
    Verification.UNVERIFIED: 0.5,
    Verification.SELF_SUPPORTED: 0.7,
    Verification.TOOL_SUPPORTED: 0.9,
    Verification.SUPERVISOR_VERIFIED: 1.0,
    Verification.REJECTED: 0.0,  # it is never current, so this is only ever shown
}
NOT_A_CLAIM = 0.8  # the same table's value for what claims nothing: a passage
_STRENGTH = (Verification.UNVERIFIED, Verification.SELF_SUPPORTED, Verification.TOOL_SUPPORTED)


class Decision(StrEnum):
    VERIFIED = "verified"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class SignOff:
    """What a person decided of an object; who and why are the revision's `actor` and `reason`.

    `authority` is the signer's at that time (0 to 100). `on` is the strength of the evidence it was decided on and
    `of` the form of what was signed (`form_of`): a sign-off counts while the object says the same on evidence no
    weaker. A rejection counts for ever.
    """

    decision: Decision
    authority: int
    on: Verification = Verification.UNVERIFIED
    of: str = ""


def form_of(title: str, value: str) -> str:
    """12 hex digits for what an object says, letter case, markup and white space apart."""
    return short_hash("signed", fold_proposition(title), fold_proposition(value) if value else "")


def strength_of(evidence: bool, tool: bool) -> Verification:
    """The word for evidence alone: none, any, or some of it the output of a tool."""
    return Verification.TOOL_SUPPORTED if evidence and tool else Verification.SELF_SUPPORTED if evidence else Verification.UNVERIFIED


def counts(sign_off: SignOff, strength: Verification, form: str) -> bool:
    """Whether a sign-off still stands for an object that says `form` on evidence of that strength."""
    if sign_off.decision is Decision.REJECTED:
        return True
    return sign_off.of == form and _STRENGTH.index(sign_off.on) <= _STRENGTH.index(strength)


def verification_of(strength: Verification, sign_offs: Iterable[SignOff], form: str) -> Verification:
    """The word for evidence of `strength` and the sign-offs given on the object."""
    standing = {s.decision for s in sign_offs if counts(s, strength, form)}
    if Decision.REJECTED in standing:
        return Verification.REJECTED
    return Verification.SUPERVISOR_VERIFIED if standing else strength
