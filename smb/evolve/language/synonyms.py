"""Words that say the same in an everyday note.

Owns a small thesaurus of general English, written by hand: one group a meaning, and phrases that count as one word. Never
decides what two sentences mean.
"""

from __future__ import annotations

import re
from functools import lru_cache

from smb.evolve.language.stems import stem

_GROUPS = """
pay salary wage wages earn earns paid pays income; price cost costs priced fee; buy purchase bought acquire acquired; sell sale sold;
rent rental lease leased; found establish established founded founding; start begin launch kick-off commence startup; end finish conclude ends;
birth birthday born birthdate; marry wedding married wed marriage; death die died; limit cap maximum max ceiling quota; minimum min;
use utilize employ utilise usage; hold own possess owns belong belongs owner owned; maintain maintainer upkeep maintained;
lead leader leads chief led head; manage manager manages managed; direct director; conduct conductor; operate operator; organize organizer;
translate translator translation translated; supervise supervisor; guide guiding; teach teacher teaches instructor tutor taught;
coach trainer coaches; author write writer written authored; sing singer; paint painter painted; doctor physician gp; lawyer attorney solicitor;
boss superior; kid child children kids; father dad; mother mum mom; grandmother grandma granny; grandfather grandpa granddad; spouse partner;
house home; flat apartment; car automobile; bike bicycle; lorry truck; plane airplane aeroplane; holiday vacation; trip journey travel trips;
supermarket grocery; firm company business enterprise corporation; staff employee employees personnel worker workers; colleague coworker co-worker;
customer client clients buyer; member membership; guest visitor; team squad; meeting meet-up meet gathering; interview interviews;
lecture class lesson course; exam examination; school schoolhouse; university college; invoice bill; contract agreement; document doc docs paper;
email e-mail; phone telephone cellphone; photo picture photograph; film movie; song tune; gift present; garbage trash rubbish waste; garden yard;
sofa couch; cupboard closet; fridge refrigerator; stove cooker; oven ovens; tap faucet; medicine medication drug meds; illness disease sickness;
vaccine vaccinate vaccination jab shot; hospital clinic; allergy allergic; weight weigh weighs; height tall; length long; width wide; depth deep;
age aged; speed velocity; duration last lasts; temperature temp; size sized; number count amount quantity; half halves; deadline due cutoff;
delivery deliver delivered ship shipped shipment shipping dispatch; package parcel; warehouse depot; supplier vendor; database db;
server host machine; memory ram; fly flight flies flew; play player plays; program software; repository repo;
config configuration setting settings configure configured; auth authentication login logon signin; admin administrator admins; prod production;
dev development; test tests testing tested; bug defect bugs; error failure; release released publish published; deploy deployment rollout deployed;
backup backups; encrypt encryption encrypted; compress compression compressed; support supports supported; cache caching cached; log logs logging;
password passphrase; folder directory; website site webpage homepage; documentation manual handbook; language lang; library lib;
feature functionality; function functions; hire recruit hired; move relocate moved relocation relocated; live reside lives lived residence;
place location located situated; visit visited visits; arrive arrival arrives arrived; depart departure departs departed;
require need requires needed; like enjoy likes enjoys fond; love adore loves; want desire; repair mend fix fixed repaired; clean wash cleaned washed;
cook cooked; bake baked baking; grow cultivate; plant planted plants; water watered; choose select pick chosen selected picked;
decide decision decided; register registration enrol enroll enrollment; approve approval approved authorize authorized; sign signature signed;
send transmit sent sends; store keep save stored kept saved; show display displayed shown; watch watched; speak talk speaks;
answer reply respond replied response; ask inquire; help assist assistance; happen occur; build construct built construction; create created;
delete erase deleted; install installed installation; replace substitute replaced replacement; update upgrade updated; check verify checked verified;
train railway; road street; town village; mountain peak summit; hike hiking trek; path trail track; tent tents; swim swimming; run running;
bookkeeping accounting accounts; budget budgets; debt loan loans; tax taxes taxed; insurance insured insure; insulate insulation insulated;
heat heating heated; cool cooling cooled; power electricity; battery batteries; floor story; roof roofs; wall walls; window windows; door doors;
key keys; seat seats; room rooms; concert gig; choir chorus; rehearsal rehearse practice practise; instrument instruments; piano pianos;
drive driving drives driver driven; ride riding; smoke smoker smoking smokes; diet diets; vegetarian veggie; eat eats eating eaten;
drink drinks drinking; meal dish; lunch lunches; dinner supper; breakfast breakfasts; recipe recipes; ingredient ingredients; dough pastry;
soup broth; annual yearly annually; daily everyday; weekly weeklys; monthly monthlies; quarter quarterly; clever smart intelligent;
sleep sleeps asleep; study studies studied; graduate graduated graduation; work works working worked; plugin extension add-on addon; wiki wikis;
newsletter mailing; vote votes voted; board committee; council councils; president chairman chairwoman chairperson chair; secretary secretaries;
treasurer treasurers; captain skipper; landlord landlady; tenant renter; neighbor neighbors; friend buddy mate; pet pets; dog dogs puppy;
cat cats kitten; lens lenses; glasses spectacles; ticket tickets; passport passports; visa visas; license permit licensed; grant granted;
possible feasible; review reviewed reviews; accident crash; meter metre; finance fund funded funding financing; sponsor sponsored;
donate donation donated; attend attended attendance; participant attendee participants;
"""
_PHRASES = {
    "only child": "only-child", "set up": "establish", "started up": "establish", "no longer": "no-longer", "not any longer": "no-longer", "any longer": "any-more",
    "any more": "any-more", "anymore": "any-more", "at the moment": "currently", "right now": "currently", "these days": "currently",
    "at present": "currently", "for now": "currently", "have to": "must", "has to": "must", "had to": "must", "need to": "must",
    "needs to": "must", "ought to": "must", "got to": "must", "be able to": "can", "is able to": "can", "are able to": "can",
    "is required to": "must", "are required to": "must", "is obliged to": "must", "is not able to": "can not", "is unable to": "can not",
    "are unable to": "can not", "was unable to": "could not", "unable to": "can not", "is allowed to": "can", "are allowed to": "can", "is permitted to": "can", "are permitted to": "can", "are free to": "can", "are welcome to": "can", "are entitled to": "can",
    "is not allowed to": "must not", "are not allowed to": "must not", "is not permitted to": "must not", "are not permitted to": "must not", "is forbidden to": "must not",
    "are forbidden to": "must not", "are forbidden from": "must not", "are prohibited from": "must not", "is prohibited from": "must not", "are banned from": "must not",
    "is in service": "is working", "is in operation": "is working", "keep running": "stay started", "keeps running": "stays started", "remain running": "stay started",
    "going on": "ongoing", "goes on": "ongoing", "going ahead": "ongoing", "stepped down": "step-down", "steps down": "step-down", "stepping down": "step-down", "gave up": "give-up", "given up": "give-up",
    "gives up": "give-up", "on hold": "on-hold", "in full swing": "in-progress", "in progress": "in-progress", "under way": "in-progress", "in the works": "in-progress",
    "under development": "in-progress", "in development": "in-progress", "in active development": "in-progress", "up and running": "running-now",
    "under construction": "in-progress", "being built": "in-progress", "being developed": "in-progress", "being worked on": "in-progress",
    "out of service": "broken", "out of order": "broken", "out of use": "retired", "in use": "used", "in stock": "in-stock", "out of stock": "out-of-stock", "sold out": "out-of-stock",
    "up to date": "current-state", "up-to-date": "current-state", "out of date": "outdated", "out-of-date": "outdated", "on time": "on-time",
    "turned on": "enabled", "switched on": "enabled", "turned off": "disabled", "switched off": "disabled", "came out": "was released", "comes out": "is released", "rented out": "rented-out", "turn on": "enable", "switch on": "enable",
    "turns on": "enable", "turns off": "disable", "switches on": "enable", "switches off": "disable",
    "turn off": "disable", "switch off": "disable", "shut down": "stopped", "shuts down": "stops", "taken down": "offline", "in favour of": "for",
    "in favor of": "for", "likes best": "favorite", "like best": "favorite", "like the most": "favorite", "like most": "favorite", "likes most": "favorite",
    "prefer most": "favorite", "prefers most": "favorite", "love most": "favorite", "loves most": "favorite", "liked best": "favorite",
    "enjoy most": "favorite", "enjoys most": "favorite", "not only": "also", "no matter": "regardless", "no doubt": "surely", "nothing but": "only", "no wonder": "surely",
    "as well as": "and", "each other": "mutually", "looked after by": "maintained by", "looks after": "maintains", "look after": "maintain",
    "in charge of": "leads", "responsible for": "leads", "took over": "takes-over", "because of": "due-to", "due to": "due-to", "took place": "happened", "takes place": "happens", "take place": "happen", "made up of": "made of",
    "consists of": "comprises", "consist of": "comprise", "broke down": "broken", "breaks down": "breaks", "went up": "rose", "goes up": "rises", "gone up": "risen",
    "went down": "fell", "goes down": "falls", "gone down": "fallen", "got faster": "faster", "paid off": "repaid", "carried out": "done",
    "called off": "canceled", "put off": "postponed", "pushed back": "postponed", "pushed out": "postponed", "ran out of": "lacks", "run out of": "lack", "runs out of": "lacks",
    "of course": "surely", "in front of": "before", "free of charge": "free", "for free": "free", "at no cost": "free", "without charge": "free",
    "for sale": "for-sale", "on sale": "for-sale", "on leave": "on-leave", "on strike": "on-strike", "at least": "at-least", "at most": "at-most", "no more than": "at-most",
    "not more than": "at-most", "no less than": "at-least", "no fewer than": "at-least", "up to": "at-most", "more than": "more-than", "less than": "less-than", "fewer than": "less-than",
    "in person": "in-person", "read only": "read-only", "opted out": "refused", "dropped out": "quit", "in public": "publicly", "in private": "privately", "open to the public": "public",
    "hand made": "handmade", "by hand": "manually", "in error": "mistakenly", "in addition": "also", "as of": "since", "according to": "according-to", "year round": "year-round", "all year": "year-round",
}
_PHRASE = re.compile(r"\b(?:" + "|".join(re.escape(p).replace(r"\ ", r"\s") for p in sorted(_PHRASES, key=len, reverse=True)) + r")\b", re.IGNORECASE)
_SPLIT = re.compile(r"\b(?:turn|switch)s?(ed)?\s((?:the|my|our|your)\s[\w-]+(?:\s[\w-]+)?)\s(on|off)\b(?!\sthe\b)", re.IGNORECASE)
_KEPT = re.compile(
    r"\b(?:(leaves?|keeps?)\s((?:the|my|our|your)\s[\w-]+(?:\s[\w-]+)?\s)|(stays?|remains?)\s)(on|off)\b(?=\s*(?:[.,;!]|\Z|overnight\b|during\b|at\snight\b|in\s\w+\s*[.]|all\b|until\b|when\b|while\b))",
    re.IGNORECASE)
_GROUP_OF: dict[str, str] = {}
for _members in (group.split() for group in _GROUPS.split(";") if group.strip()):
    for _word in _members:
        _GROUP_OF.setdefault(stem(_word), stem(_members[0]))


def joined(text: str) -> str:
    """`text` with phrases that count as one word replaced by it: "is on hold" → "is on-hold"."""
    text = _SPLIT.sub(lambda m: f"{'enable' if m[3].lower() == 'on' else 'disable'}{'d' if m[1] else ''} {m[2]}", text)
    text = _KEPT.sub(lambda m: f"{'keep' if m[1] else m[3]} {m[2] or ''}{'enabled' if m[4].lower() == 'on' else 'disabled'}", text)
    return _PHRASE.sub(lambda m: _PHRASES[" ".join(m[0].lower().split())], text)


def is_known(word: str) -> bool:
    """Whether a lower-case word is in the thesaurus."""
    return stem(word) in _GROUP_OF


@lru_cache(maxsize=65536)
def concept(word: str) -> str:
    """What stands for a lower-case word and all that says the same.

    >>> concept("earns") == concept("salary")
    True
    """
    root = stem(word)
    return _GROUP_OF.get(root, root)
