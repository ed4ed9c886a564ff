"""The words of English that carry no topic, and the irregular forms of its verbs.

Owns closed word lists of the general language, for whoever compares or searches text. Holds no topic word and no name: a list
fitted to a data set loses on the next one.
"""

from __future__ import annotations

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

NEGATIONS = frozenset("no not never none nobody nothing neither nor without cannot".split())
IRREGULAR = {  # past forms of English verbs, by the form a question uses ("when did she buy" meets "she bought")
    past: base
    for base, pasts in (
        pair.split(":")
        for pair in "be:was,were,been become:became begin:began,begun bind:bound bite:bit,bitten blow:blew,blown break:broke,broken "
        "bring:brought build:built burn:burnt buy:bought catch:caught choose:chose,chosen come:came cut:cut deal:dealt do:did,done "
        "draw:drew,drawn drink:drank,drunk drive:drove,driven eat:ate,eaten fall:fell,fallen feed:fed feel:felt fight:fought "
        "find:found fly:flew,flown forget:forgot,forgotten freeze:froze,frozen get:got,gotten give:gave,given go:went,gone "
        "grow:grew,grown hang:hung have:had hear:heard hide:hid,hidden hold:held keep:kept know:knew,known lay:laid lead:led "
        "leave:left lend:lent light:lit lose:lost make:made mean:meant meet:met pay:paid ride:rode,ridden ring:rang,rung "
        "rise:rose,risen run:ran say:said see:saw,seen sell:sold send:sent shake:shook,shaken shoot:shot shut:shut sing:sang,sung "
        "sink:sank,sunk sit:sat sleep:slept speak:spoke,spoken spend:spent stand:stood steal:stole,stolen stick:stuck "
        "strike:struck swim:swam,swum take:took,taken teach:taught tell:told think:thought throw:threw,thrown wake:woke,woken "
        "wear:wore,worn win:won write:wrote,written".split()
    )
    for past in pasts.split(",")
}
