"""Words that exclude each other.

Owns the axes, written by hand from everyday English: two poles each, every word of a pole saying about the same; and the states a
thing can be in, of which it is in one at a time. Never matches inside a word.

An axis is *complementary* where what is not the one is the other ("on", "off"), *gradable* where there is a middle ("full", "empty"),
and an *event* where the one can follow the other ("opened", "closed"), so that two reports of it may both be true.
"""

from __future__ import annotations

from enum import StrEnum

from smb.evolve.language.stems import stem


class AxisKind(StrEnum):
    COMPLEMENTARY = "complementary"
    GRADABLE = "gradable"
    EVENT = "event"


_COMPLEMENTARY = """
on enabled enable enables active activated activate switched-on | off disabled disable disables inactive deactivated deactivate
mandatory required obligatory compulsory must requires require necessary | optional voluntary elective
allowed permitted may allow allows permit permits legal permissible welcome | forbidden prohibited banned forbid forbids prohibit prohibits ban bans disallowed disallow illegal
open opened | closed shut
public publicly | private privately confidential secret
true correct right accurate | false incorrect wrong inaccurate untrue
alive living | dead deceased
present | absent missing
online running-now | offline
manual manually handmade | automatic automatically automated
internal internally | external externally
permanent permanently indefinite | temporary temporarily provisional interim
valid | invalid void expired
available in-stock | unavailable out-of-stock
possible feasible | impossible infeasible
include includes included including inclusive | exclude excludes excluded exclusive
accept accepts accepted | reject rejects rejected refuse refuses refused decline declines declined
pass passes passed succeed succeeds succeeded successful successfully | fail fails failed unsuccessful
win wins won | lose loses lost
same identical equal | different distinct unequal
free | paid chargeable
single unmarried | married
married | divorced
guilty | innocent
pregnant | barren
vegetarian vegan meatless meat-free | carnivorous
wet damp moist | dry
asleep | awake
locked | unlocked
odd | even
synchronous synchronously | asynchronous asynchronously
local locally | remote remotely
static | dynamic
physical | virtual
digital electronic | analog analogue
indoor indoors inside | outdoor outdoors outside
male | female
left | right
domestic | foreign abroad
read-only immutable | writable writeable mutable
complete completed finished done | incomplete unfinished undone
paid settled repaid | unpaid outstanding overdue
full-time | part-time
fixed | variable floating
raw uncooked | cooked
fresh | frozen canned tinned
new unused | used second-hand secondhand
solo alone | together jointly
odd-numbered | even-numbered
sober | drunk
ripe | unripe
horizontal horizontally | vertical vertically
in-person onsite | remote online virtual
running | stop stopped halted
working works functional operational | broken defective faulty inoperative
edible | poisonous toxic
sweetened sugared | unsweetened sugar-free
waterproof watertight | leaky
occupied rented rented-out | vacant unoccupied
furnished | unfurnished
known | unknown
early | late
proprietary | open-source
non-smoker | smoker
"""
_GRADABLE = """
fast faster fastest quick quicker quickly rapid | slow slower slowest slowly sluggish
full crowded packed | empty emptier vacant
high higher highest | low lower lowest
big bigger biggest large larger largest huge | small smaller smallest tiny little
long longer longest lengthen lengthened | short shorter shortest brief shorten shortened
tall taller tallest | short shorter shortest
heavy heavier heaviest | light lighter lightest lightweight
hot hotter hottest | cold colder coldest
warm warmer warmest | cool cooler coolest chilly
hard harder hardest difficult tough | easy easier easiest simple simpler effortless
hard harder hardest firm | soft softer softest
strong stronger strongest strengthen strengthens strengthened | weak weaker weakest weaken weakens weakened
cheap cheaper cheapest inexpensive affordable | expensive dearer costly pricey
good better best great excellent | bad worse worst poor poorer terrible awful
safe safer safest harmless | dangerous unsafe risky hazardous harmful
wide wider widest broad broader widen widened | narrow narrower narrowest narrowed
thick thicker thickest | thin thinner thinnest
deep deeper deepest | shallow shallower shallowest
loud louder loudest noisy noisier | quiet quieter quietest silent
bright brighter brightest | dim dimmer dimmest dark darker
clean cleaner cleanest | dirty dirtier dirtiest filthy
rich richer richest wealthy | poor poorer poorest
young younger youngest | old older oldest elderly
new newer newest modern | old older oldest outdated
happy happier glad pleased satisfied | unhappy sad sadder dissatisfied disappointed
near nearer nearest close closer closest | far farther further farthest distant
sweet sweeter | bitter sour
rough rougher coarse | smooth smoother fine
steep steeper | flat gentle
tight tighter | loose looser
sharp sharper | blunt dull
sharp sharper sharpest crisp | blurry blurred fuzzy
sturdy solid stable steady reliable dependable | fragile flimsy unstable unreliable shaky flaky
healthy healthier | sick ill unhealthy
common frequent widespread | rare uncommon infrequent
important crucial essential vital | unimportant irrelevant negligible
useful helpful | useless unhelpful
popular | unpopular
interesting exciting | boring dull tedious
polite friendly kind | rude unfriendly hostile
spicy hot | mild bland
calm | nervous anxious agitated
lenient relaxed lax | strict stringent
positive favorable optimistic | negative unfavorable pessimistic
major | minor
profitable lucrative | unprofitable loss-making
tidy neat orderly | messy untidy chaotic
comfortable cosy cozy | uncomfortable
accurate precise exact | inaccurate imprecise vague
complex complicated | simple straightforward
experienced veteran | inexperienced novice
busy | idle quiet
punctual on-time | late delayed overdue
generous | stingy
sunny | cloudy overcast
love loves loved adore adores like likes enjoy enjoys | hate hates hated dislike dislikes detest detests loathe loathes
agree agrees agreed | disagree disagrees disagreed
trust trusts | distrust distrusts
support supports supported for approve approves | oppose opposes opposed against
maximum maximize | minimum minimize
north northern | south southern
east eastern | west western
above over | below under beneath
majority | minority
increase increases increased rise rises rose risen grow grows grew grown raise raises raised climb climbed up improve-more | decrease decreases decreased reduce reduces reduced fall falls fell fallen shrink shrank drop drops dropped lower lowers lowered cut cuts decline declined down lessen lessened
improve improves improved better | worsen worsens worsened deteriorate deteriorates deteriorated degrade degrades degraded worse
accelerate accelerates accelerated | decelerate decelerates decelerated slow slows slowed
expand expands expanded extend extended lengthen lengthened | contract contracts contracted shorten shortened
gain gains gained | lose loses lost
benefit benefits help helps | harm harms hurt hurts damage damages
encourage encourages encouraged | discourage discourages discouraged
prevent prevents prevented | cause causes caused
simplify simplifies simplified | complicate complicates complicated
"""
_EVENTS = """
open opens opened | close closes closed shut shuts
start starts started begin begins began launch launched resume resumed | stop stops stopped end ends ended cease ceased halt halted
arrive arrives arrived | leave leaves depart departs departed
add adds added | remove removes removed
hire hires hired | fire fires fired dismiss dismissed
lock locks locked | unlock unlocks unlocked
cover covers covered | uncover uncovers uncovered
plug-in plugged-in connect | unplug unplugs unplugged
load loads loaded | unload unloads unloaded
fasten fastens fastened tie tied | unfasten unfastens unfastened untie untied loosen
join joins joined | quit quits
connect connects connected | disconnect disconnects disconnected
install installs installed | uninstall uninstalls uninstalled
create creates created | delete deletes deleted destroy destroyed
remember remembers remembered | forget forgets forgot forgotten
keep keeps kept retain retained preserve preserved | discard discards discarded delete deleted destroy destroyed shred shredded erase erased remove removed
approve approves approved | veto vetoes vetoed
pull | push
upload uploads uploaded | download downloads downloaded
import imports imported | export exports exported
freeze freezes froze | thaw thaws thawed melt
appear appears appeared | disappear disappears disappeared vanish vanished
"""
_STATES = """
on-hold paused suspended stalled frozen shelved halted
active in-progress ongoing underway running running-now continuing
done finished completed complete over ended
canceled abandoned scrapped dropped axed
planned unstarted
retired discontinued decommissioned deprecated obsolete
pending undecided waiting unresolved
approved accepted ratified
rejected declined denied refused
"""
_COMPATIBLE_STATES = {frozenset(("on-hold", "pending")), frozenset(("done", "retired")), frozenset(("canceled", "retired")), frozenset(("done", "approved")),
                      frozenset(("active", "approved")), frozenset(("canceled", "rejected")), frozenset(("planned", "approved")), frozenset(("planned", "pending")),
                      frozenset(("active", "pending")), frozenset(("done", "rejected")), frozenset(("on-hold", "approved")), frozenset(("retired", "approved")),
                      frozenset(("active", "planned"))}
Poles = tuple[tuple[int, int], ...]  # (axis, +1 or -1), one for each axis a word lies on

KINDS: list[AxisKind] = []
_POLES: dict[str, list[tuple[int, int]]] = {}
for _kind, _lines in ((AxisKind.COMPLEMENTARY, _COMPLEMENTARY), (AxisKind.GRADABLE, _GRADABLE), (AxisKind.EVENT, _EVENTS)):
    for _line in _lines.strip().splitlines():
        for _side, _sign in zip(_line.split("|"), (1, -1), strict=True):
            for _word in _side.split():
                _POLES.setdefault(_word, []).append((len(KINDS), _sign))
        KINDS.append(_kind)
_STATE_OF = {word: line.split()[0] for line in _STATES.strip().splitlines() for word in line.split()}
_OF_FORM = {word: tuple(poles) for word, poles in _POLES.items()}
_OF_STEM = {stem(word): tuple(at) for word, at in _POLES.items() if word.endswith(("s", "ed"))}
_NEGATING = ("un", "non", "in", "im", "ir", "il", "dis")


def poles(word: str) -> Poles:
    """Where a lower-case word lies; empty for a word that has no opposite."""
    found = _OF_FORM.get(word)
    if found is None and word.endswith("ly"):
        found = _OF_FORM.get(word[:-2])
    if found is None:
        return _OF_STEM.get(stem(word), ()) if word.endswith(("ing", "ed", "s")) and len(word) > 5 else ()
    return found


def opposed_poles(one: Poles, other: Poles) -> AxisKind | None:
    """The kind of the first axis on which two words lie at opposite ends; None where there is none, or one where they agree."""
    found = None
    for axis, sign in one:
        for axis2, sign2 in other:
            if axis == axis2:
                if sign == sign2:
                    return None
                found = found or KINDS[axis]
    return found


def same_pole(one: Poles, other: Poles) -> bool:
    return any(p in other for p in one)


def state(word: str) -> str:
    """The state a word names, as the word that stands for it; "" for other words."""
    return _STATE_OF.get(word, "")


def states_exclude(one: str, other: str) -> bool:
    return one != other and frozenset((one, other)) not in _COMPATIBLE_STATES


def negated_form(word: str) -> str:
    """The stem of what a word negates by its prefix ("unencrypted" → stem of "encrypted"); "" where it has no such prefix.

    Says nothing of whether that is a word: it counts only where another text says it.
    """
    for prefix in _NEGATING:
        if word.startswith(prefix) and len(rest := word[len(prefix):].lstrip("-")) >= 4:
            return stem(rest)
    return ""
