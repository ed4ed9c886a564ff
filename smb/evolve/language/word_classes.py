"""Word classes by which two claims are laid side by side: what counts for what a claim is about, and what does not.

Owns closed lists of general English. Never matches anything itself.
"""

from __future__ import annotations

from smb.evolve.language.stems import stem
from smb.evolve.language.synonyms import concept


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _concepts(text: str) -> frozenset[str]:
    return frozenset(map(concept, text.split()))


BE = _words("is are was were am be been being isn't aren't wasn't weren't 's 're 'm")
AUXILIARIES = BE | _words(
    "have has had having do does did can could may might will would shall should must cannot hasn't haven't hadn't doesn't don't didn't won't "
    "wouldn't can't couldn't shouldn't mustn't needn't ain't 've 'd 'll let let's"
)
DETERMINERS = _words(
    "the a an this that these those my your our his her its their some any each every all both no another such whose which what either neither"
)
DEFINITE = _words("the this that these those my your our his her its their whose 's")
PREPOSITIONS = _words(
    "in on at by for from to with of into onto over under about after before between during through via per as than against within without "
    "until till since along across toward towards upon off out up down near behind above below beside besides beyond inside outside around "
    "among like unlike despite due-to according-to"
)
CONJUNCTIONS = _words(
    "and or but so because if when while although though unless whereas since that who whom where why how whether once then therefore thus "
    "hence yet nor"
)
PRONOUNS = _words(
    "i you he she it we they me him us them myself yourself himself herself itself ourselves themselves mine yours hers ours theirs one ones "
    "there here someone somebody something anyone anybody anything everyone everybody everything nobody nothing none who"
)
# adverbs and adjectives that say how sure, how much or how lately something is so, not what is so
FILLERS = _words(
    "now currently presently already still also just really very quite rather too even ever only actually basically simply always usually often "
    "generally normally typically almost nearly about approximately roughly exactly well much more most less least so far yet again soon "
    "recently lately today nowadays finally indeed certainly definitely surely clearly obviously fully completely entirely totally extremely "
    "highly whole entire full current present existing actual own please maybe perhaps etc given particular certain specific various several "
    "many few lot lots bit both together else instead more-than less-than at-least at-most regardless mutually hereby once twice thrice times "
    "time date day year month week hour minute second early late mid end around per cent last next this coming past previous ago later earlier "
    "before after never no-longer any-more every each all some any none no not nor neither nobody nothing cannot without everyone everybody "
    "everything anyone anybody anything someone somebody something seldom rarely sometimes frequently constantly permanently occasionally "
    "hardly barely scarcely majority minority dr mr mrs ms prof st must should may might can could would will shall first-ever officially "
    "successfully formally"
)
# verbs that carry little of their own: what they are said of says it all
LIGHT = _concepts(
    "be have do get take make go come give keep put set use hold own need become remain stay stand exist contain include offer provide support "
    "serve act happen run work cost weigh amount equal lie live locate total measure reach seem appear look feel mean call name describe "
    "consider count note say tell celebrate schedule plan due require receive allow enjoy like want add apply bring see find let try play "
    "perform carry handle involve"
)
# heads that add nothing to the name before them: "the ledger service" is "ledger"
EMPTY = _concepts(
    "be have do get make use take give provide support contain include exist hold own keep come go can need involve offer serve run work let"
)  # verbs that only tie an object to a subject
GENERIC_HEADS = _concepts(
    "service project team system app tool job process company firm department office room machine host server file program software package "
    "library module plugin component unit group area section site place building device model product item task work user client customer "
    "person people member man woman someone family household event activity course class way type kind sort level rate value figure number "
    "amount total price cost speed size length duration weight height width depth temperature capacity distance age percentage share ratio "
    "status state condition position role title name brand make colour date time day deadline version edition copy thing object piece part set "
    "list data information content record entry line field option setting mode feature function method command parameter argument "
    "implementation pointer string array variable constant iterator instance base operator expression statement constructor handle page "
    "document note article image text code script result output input key table row column database folder directory api interface element "
    "format default example case problem issue error reason point idea question answer solution change difference step stage phase rule policy "
    "plan goal purpose aim effect use usage world life side"
)
ABSTRACT = _concepts(
    "default value number amount size type name example kind sort way thing object data information list item case part function method class "
    "parameter argument element member pointer string array variable constant iterator instance base operator expression statement constructor "
    "handle implementation code script result output input table row column record entry line field option page document text image format file "
    "content library module interface command"
)  # say even less of what is meant
MEASURED = {  # what a unit says by itself, one group a way to measure: "takes" and "lasts" are one, "long" and "deep" two
    kind: tuple(map(_concepts, groups.split(";")))
    for kind, groups in {
        "time": "take last duration time long length need run require minute hour; valid expire live remain last run; age old; wait", "length": "long length measure; height tall high; width wide; depth deep; distance far away go; thick; size",
        "mass": "weigh weight heavy mass; load payload capacity carry hold; dose dosage take", "temperature": "temperature degree heat hot warm cold set", "data": "size large big; memory; storage space capacity hold",
        "volume": "volume capacity hold contain; need use", "share": "percent percentage share rate proportion part pay", "clock": "time at begin hour",
        "money": "cost price pay charge amount money sum worth value bill sell buy expensive total set stand come",
        "": "number count amount total have there consist comprise contain include employ be; size space room fit seat accommodate capacity hold enough big sleep",
        "rate": "rate speed frequency throughput often send submit issue perform per make do take serve", "power": "power rate output", "speed": "speed fast velocity", "bound": "limit minimum allow permit", "area": "size area measure",
    }.items()
}
CURRENCIES = frozenset(("EUR", "USD", "GBP", "JPY", "CHF", "CNY"))
# things that happen to one subject once, so that their date is one
ONCE = _concepts(
    "birthday found launch release deadline due expire die marry graduate retire join hire publish open close inaugurate complete finish end "
    "start begin arrive depart move buy sell sign build invent introduce adopt schedule meeting appointment exam wedding concert party "
    "interview ceremony conference deliver election vote debut premiere divorce emigrate ratify deploy ship migrate cancel fall adoption "
    "surgery operation festival race marathon flight trip session workshop lesson rent payment invoice renewal renew warranty contract lease "
    "inspection audit takeover merger bankruptcy acquire hold happen anniversary holiday vacation move-in occur discover settle elect appoint "
    "promote award celebrate register enroll submit hand go-live"
)
# verbs of plain description, for finding the verb of a sentence
VERBS = frozenset(map(stem, _words(
    "use run write send store locate live work make own lead manage maintain teach keep cost take weigh earn pay support serve need contain "
    "start open close end begin launch found move sign hold drive eat drink play speak like love hate prefer want belong read sell buy build "
    "host deploy call name paint marry study meet bake cook grow plant ship deliver handle increase reduce raise lower improve enable disable "
    "allow forbid include exclude accept reject pass fail win lose stop leave join quit resign retire step-down cause arrive depart fly ride "
    "walk swim sleep wear stand sit know think say believe measure last produce create require receive give get go come become remain stay "
    "cover fit heat cool wash clean repair fix replace charge order book rent visit travel attend train practise practice perform sing dance "
    "record film publish print edit translate hire fire employ elect head chair smoke count cap expire rise fall sprout bark talk tell ask "
    "answer wait watch listen hear feel touch taste smell look see help try turn push pull lift drop pick catch hit break cut tear bend fold "
    "press squeeze mix stir pour fill empty boil fry roast freeze melt burn light shine glow ring sound laugh cry smile shout whisper agree "
    "disagree argue discuss explain describe report state claim promise warn thank greet invite welcome feed chew swallow breathe cough bleed "
    "heal hurt ache suffer die birth educate learn understand remember forget guess doubt hope wish fear worry enjoy dislike admire respect "
    "trust owe lend borrow save waste invest trade spend tax insure donate collect gather sort compare match differ vary depend consist combine "
    "split divide share separate attach detach tie lock unlock seal wrap pack unpack carry drag throw toss hang lean climb jump crawl float "
    "sink dive sail row paddle ski skate cycle march wander roam migrate emigrate settle occupy inhabit lease sublet possess inherit adopt "
    "abandon refuse deny admit confess confirm verify prove demonstrate illustrate indicate suggest imply recommend advise urge force compel "
    "oblige permit ban prohibit prevent avoid escape hide seek search discover invent develop design draft draw sketch carve sculpt knit sew "
    "weave stitch mend polish scrub sweep dust iron stack pile arrange organise supervise guide coach recruit promote demote dismiss sue judge "
    "convict punish reward praise blame criticise insult apologise forgive apply enrol register graduate qualify specialise focus concentrate "
    "aim target attack defend protect guard rescue threaten destroy damage harm wreck crash collide explode leak drip flow flood drain dry soak "
    "rinse spray squirt absorb evaporate condense dissolve react rust rot decay ferment ripen bloom blossom germinate harvest reap dig plow sow "
    "prune graze hunt fish trap shoot kill slaughter breed hatch nest hibernate digest sponsor fund finance subsidise audit inspect review "
    "approve veto amend ratify enact repeal enforce violate breach comply obey follow precede succeed supersede outperform exceed equal total "
    "average range span extend expand shrink decline decrease double triple halve peak plunge surge stabilise fluctuate oscillate rotate spin "
    "revolve orbit tilt slope face overlook border adjoin surround enclose comprise constitute represent symbolise signify denote define "
    "specify label tag mark stamp date number list index catalogue file archive retrieve fetch query filter merge branch fork clone commit "
    "rebase revert roll trigger schedule queue retry abort cancel resume pause suspend restart reboot throttle limit quota bill invoice refund "
    "track trace position place put lay set install mount assemble disassemble calibrate adjust tune configure customise emit expose bind route "
    "proxy forward redirect block ping poll subscribe notify alert email phone text message post upload stream broadcast air premiere debut "
    "star feature rehearse compose conduct captain choose direct water decide plan postpone release update upgrade remove add delete test check "
    "monitor log encrypt compress back cache sync import export download connect rely return process parse compile render load exist happen "
    "occur show provide offer"
)))
PERSON_NOUNS = _concepts(
    "man woman boy girl child mother father sister brother son daughter wife husband friend colleague boss teacher doctor neighbor uncle aunt "
    "cousin nephew niece grandmother grandfather"
)
UNIQUE = _words(
    "only sole favorite favourite preferred primary main default current official usual capital first last principal chief best highest lowest "
    "biggest largest tallest oldest youngest latest next single native"
)
# nouns that have one value of their own each: "the colour of X", "X's name"
ATTRIBUTES = _concepts(
    "colour name brand shape material language capital currency owner author maintainer lead leader manager director president chair captain "
    "head boss teacher coach trainer doctor dentist supplier vendor landlord password username address location birthplace hometown nationality "
    "religion spouse husband wife job profession occupation status size flavour genre title editor publisher designer architect founder "
    "inventor winner champion sponsor venue destination origin default licence license protocol port provider maker manufacturer carrier "
    "airline model blood-type surname nickname headquarters hq deputy treasurer secretary ceo cto cfo mayor conductor goalkeeper backend "
    "framework engine runtime database topic theme deadline key tempo mascot motto tense breed species diet instrument hobby drink food dish "
    "dessert season sport band singer book film song composer caterer photographer florist insurer bank accountant lawyer referee umpire driver "
    "pilot theme-colour surface filling fuel finish flooring wood fabric glaze"
)
