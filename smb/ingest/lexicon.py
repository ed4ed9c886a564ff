"""Word classes of general English (and a few of other languages) that the rules look words up in.

Owns closed lists only, written from grammar books' word classes and everyday usage, never from a corpus under test.
Never matches anything itself.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


AUXILIARIES = _words(
    "is are was were am be been has have had does do did will would can could shall should must may might cannot "
    "isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't won't wouldn't can't couldn't shouldn't "
    "mustn't it's that's there's he's she's i'm i've i'd i'll we're we've we'd we'll they're they've they'll you're "
    "you've é são foi era está tem ist sind war waren hat haben wird werden est sont était ont fue tiene è sono ha"
)

BASE_VERBS = _words(
    "accept access achieve act add adjust affect aim allow announce answer appear apply approve arrive ask assign "
    "attach attend avoid become begin belong bind break bring build burn buy calculate call cancel carry cause change "
    "charge check choose claim clean clear click close collect combine come compare compile complete compute "
    "configure confirm connect consider consist contain continue control convert cool copy cost count cover crack "
    "create cut damage deal decide declare decrease define delete deliver deny depend deploy derive describe design "
    "detect determine develop die differ disable display divide do double download draw drive drop earn eat enable "
    "end enforce enter equal establish evaluate examine exceed exist expand expect expire explain export expose "
    "express extend fail fall feed feel fetch fill find finish fit fix follow force forget form found gain generate "
    "get give go grow guarantee handle happen hate have hear help hide hire hit hold host identify ignore implement "
    "import improve include increase indicate inherit initialize insert install introduce invoke join keep know lack "
    "last launch lead learn leave lend let lie like limit link list listen live load log look lose love lower "
    "maintain make manage map mark match mean measure meet merge modify mount move name need note notice obtain occur "
    "offer open operate order override own park pass pay perform pick place plan play point prefer prepare present "
    "press prevent print process produce promise protect prove provide publish pull push put raise reach read receive "
    "recommend record recover reduce refer reflect refuse register release rely remain remember remove rename render "
    "rent replace reply report represent request require reserve reset resolve respond rest restart restore result "
    "return reveal review rise rotate run say save schedule search see seem select sell send separate serve set "
    "settle share ship show shrink sign sit sleep smell solve sort speak specify speed spend split stand start state "
    "stay step stop store study submit succeed suffer suggest supply support suppose switch take talk taste teach "
    "tell tend test thank think throw transfer translate travel treat trigger try turn type understand update upgrade "
    "upload use validate vary verify visit wait walk want warm wash watch weigh win work write yield"
)

_SOME_PAST = _words(
    "became began bought broke brought built came chose cost cut dealt did drew drove fell felt found gave got grew "
    "had heard held hit kept knew laid led left lent lost made meant met paid put ran read rose said sat saw sent set "
    "shook shut sold spent split spoke stood stuck swore taught thought threw told took understood went won wore "
    "wrote ate drank flew forgot froze hid hung lay rang sang sank slept slid spread stole struck swept swam tore "
    "woke wound died"
)

PAST_VERBS = _SOME_PAST
NOT_PAST = _words(
    "need feed seed speed indeed exceed proceed succeed embed hundred shed bed red bleed breed weed reed deed agreed "
    "unused so-called aged naked sacred wicked embedded united limited"
)

# words that open an instruction although they are nouns as often as verbs
NOUNS_TOO = _words(
    "access answer call cause change charge check claim control cost cover cut deal design display double download "
    "drop end export feed fit form function host import lead limit link list load log look map mark match measure "
    "name need note offer order pass place plan play point present press print process record release report request "
    "rest result return review rise run search set share show sign split stand start state step stop store study "
    "supply support switch talk taste test type update upgrade upload use visit walk wash watch work yield present "
    "love like park pay play"
)

LEAD_IN = _words(
    "then next now finally first second third also again optionally alternatively instead simply just please always "
    "never lastly afterwards once otherwise don't do let's carefully"
)
INSTRUCTIONS = BASE_VERBS | _words(
    "repeat skip inspect navigate browse fork clone expand double-check reopen restart ensure visit sudo paste type "
    "scroll hover drag tap double-click right-click uncheck untick mix stir dip grind unload brush book weigh let try "
    "imagine assume suppose given see don't let's please"
)

DANGLING = _words(
    "ours mine theirs yours hers this that these those it here they he she such both former latter one another its "
    "their his her them"
)
CONNECTIVES = _words(
    "but and or so however therefore thus hence moreover furthermore additionally nevertheless nonetheless otherwise "
    "meanwhile consequently besides yet still also similarly likewise instead"
)
HYPOTHESIS = _words(
    "if suppose supposing assume assuming imagine perhaps maybe unless whether might could would should probably "
    "possibly presumably apparently hypothetically seems wonder guess hope wish"
)
NEGATIONS = _words("not no never none neither nor cannot nobody nothing nowhere without")
QUESTION_WORDS = _words(
    "what why how when where who whom whose which is are was were do does did can could should would will has have"
)
SPEECH = _words(
    "says said say writes wrote claims claimed argues argued states stated told tells reports reported thinks thought "
    "believes believed announced announces mentions mentioned explained explains insists insisted confirmed confirms "
    "promised promises suggests suggested doubts doubted warned warns noted notes admitted admits denied denies "
    "recalls recalled concluded concludes replied"
)
FIRST_PERSON = _words("i we i'm i've i'd i'll we're we've we'd we'll my our me us mine ours")
PERSON_VERBS = SPEECH | _words(
    "asked asks wants wanted likes loves lives lived works worked joined offered signed prefers hired married wrote "
    "invited thanked phoned called emailed agreed decided hopes teaches taught knows knew"
)

DETERMINERS = _words("the a an this that these those my your our his her its their some any each every all both no another such")
PREPOSITIONS = _words(
    "in on at by for from to with of into onto over under about after before between during through via per as than "
    "against within without until since along across toward towards upon off out up down near behind above below"
)
PRONOUNS = _words(
    "i you he she it we they me him her us them who whom which that this these those mine yours ours theirs something "
    "anything everything nothing someone anyone everyone nobody one ones itself themselves himself herself myself"
)
FUNCTION_WORDS = (
    DETERMINERS
    | PREPOSITIONS
    | PRONOUNS
    | AUXILIARIES
    | CONNECTIVES
    | QUESTION_WORDS
    | _words(
        "and or but nor so yet if because although though while when where whereas unless until whether as than then "
        "there here not also only just even still too very more most less least much many few several other own same etc "
        "e.g i.e vs per"
    )
)

# capitalised words that name nothing in particular: never an entity alone, never the first word of one
NOT_NAMES = (
    FUNCTION_WORDS
    | BASE_VERBS
    | _words(
        "january february march april may june july august september october november december jan feb mar apr jun jul "
        "aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun "
        "today tomorrow yesterday spring summer autumn winter english french german spanish portuguese italian dutch "
        "chinese japanese korean russian latin greek arabic hebrew european american british asian african christmas "
        "easter god ok okay yes no thanks hello hi hey dear sorry please wow oh yeah figure table section chapter "
        "appendix page part step example listing version update note notes warning tip important caution question answer "
        "summary introduction overview background context conclusion conclusions references remarks requirements syntax "
        "parameters parameter returns description usage installation setup contents index abstract license copyright todo "
        "fixme"
    )
)

GENERIC_HEADINGS = _words(
    "introduction overview summary background context conclusion conclusions abstract contents references "
    "bibliography notes note remarks requirements syntax parameters parameter example examples usage installation "
    "install setup configuration options members methods properties fields events functions constructors operators "
    "classes structures enums macros constants typedefs description details discussion faq troubleshooting "
    "limitations license licence copyright acknowledgements acknowledgments credits changelog history links resources "
    "related prerequisites results result output outputs input inputs tasks todo todos actions action decision "
    "decisions consequences status open questions question answer answers problem solution solutions approach "
    "implementation analysis method data code test tests testing demo definition definitions motivation goals goal "
    "timeline cause repair follow-up attendees agenda participants minutes people equipment log rules use maintenance "
    "steps procedure summary: next later misc miscellaneous other general about more further reading inheritance "
    "hierarchy exceptions errors return value values see also this section tools appendix update updates quick start "
    "basics features feature member global local public private protected sample basic simple advanced additional "
    "common multiple kinds types typical main advantages disadvantages pros cons comparison complexity algorithm "
    "explanation hint hints constraints tips 题目描述 题目 描述 解法 思路 示例 提示 说明 代码 代码实现 输入 输出 参考 总结 简介 背景 目录 概述 题解 手順 概要 背景 参考 "
    "まとめ はじめに 目次"
)

CORPORATE = _words(
    "inc inc. ltd ltd. llc gmbh corp corp. corporation company co. foundation university institute college bank "
    "society association ministry agency council committee laboratory laboratories hospital school lda s.a. ag plc bv "
    "sarl oy ab consortium museum"
)
HONORIFICS = _words("mr mr. mrs mrs. ms ms. dr dr. prof prof. professor sir dame captain president senator judge")
STREETS = _words(
    "street avenue road square lane boulevard rua avenida praça rue straße strasse via calle plaza island lake river "
    "mount valley bay county province"
)
PLACE_CUES = _words("city town village country island region river")

PERSON_KEYS = _words(
    "author authors owner owners attendees participants speakers speaker deciders editor editors reviewer reviewers "
    "maintainer maintainers contact assignee lead manager by from to cc people person host guest guests teacher "
    "book_author responsible creator interviewer interviewee"
)
ORGANISATION_KEYS = _words(
    "supplier suppliers company organisation organization publisher employer client customer vendor manufacturer "
    "landlord team institution"
)
PLACE_KEYS = _words("place location city country venue town address")
PRODUCT_KEYS = _words("product tool software platform")

KIND_WORDS = {
    **dict.fromkeys(("person", "people", "persons", "contact", "contacts", "人物", "human"), "person"),
    **dict.fromkeys(
        (
            "organisation",
            "organization",
            "organisations",
            "organizations",
            "company",
            "companies",
            "org",
            "orgs",
            "institution",
            "supplier",
            "suppliers",
            "客户",
        ),
        "organisation",
    ),
    **dict.fromkeys(("place", "places", "location", "locations", "city", "cities", "country", "countries", "地点"), "place"),
    **dict.fromkeys(("product", "products", "产品", "製品"), "product"),
}

STRUCTURAL_KEYS = _words(
    "title aliases alias tags tag keywords keyword date created modified updated changed id uid uuid layout permalink "
    "slug cssclass cssclasses publish published draft description summary excerpt abstract toc weight "
    "sidebar_position sidebar_label nav_order comments math katex lang language image cover thumbnail banner "
    "canonical canonical_url edit_url editlink template type kind category categories up parent part_of up: related "
    "see_also supersedes superseded_by extends depends_on requires inspired_by based_on session index order hidden "
    "attendees participants speakers pin pinned redirect_from redirects position lastmod last_modified mtime ctime format version_id head meta robots "
    "sitemap hide search noindex clipped"
)
METADATA_SUFFIXES = (
    "_keywords",
    "_type",
    "_name",
    "_location",
    "_url",
    "_path",
    "_id",
    "_date",
    "_position",
    "_label",
    "_at",
    "guid",
    "assetid",
)

LABELS = _words(
    "update updates updated note notes warning tip tips important caution example examples question questions open "
    "answer answers todo decided decision summary q a edit hint info attention danger remember result results output "
    "input why how what when where tldr tl;dr problem solution pros cons step previous next source sources see also "
    "status: ps p.s btw aside disclaimer correction edited aside fix bonus caveat 输入 输出 示例 解释 提示 说明 注意 注 输入格式 输出格式 "
    "数据范围 进阶 例"
)
PLAIN_LABELS = _words(  # where they open a line without markup: what follows is a remark or a thing to do, not a value
    "idea ideas hypothesis cause causes reason reasons rationale goal goals short long full code more further details detail info "
    "usage command commands run tl tldr error errors warn debug trace fatal exception todos task tasks action actions follow-up "
    "remember reminder remark remarks comment comments quote rule trick challenge bug issue issues one also like such "
    "bugfix fix fixed fixes feat feature chore change changes added removed breaking refactor revert dear hi hello hey "
    "tag tags keyword keywords alias aliases permalink slug uid uuid http https ftp mailto file "
    "aufgabe aufgaben idee hinweis achtung frage antwort beispiel nota exemplo ejemplo remarque exemple 备注 备考 例如 问题 答案 題目 題目描述 "
    "備考 注記 質問 回答 方法 参考 时间复杂度 空间复杂度 时间 思路 示例"
)
STATUS_WORDS = frozenset((
    "open", "closed", "done", "active", "inactive", "accepted", "rejected", "approved", "proposed", "pending", "draft", "final",
    "in progress", "on hold", "blocked", "cancelled", "canceled", "completed", "complete", "finished", "planned", "ongoing", "paused",
    "paid", "unpaid", "signed", "sold", "sold out", "retired", "deprecated", "superseded", "archived", "enabled", "disabled",
    "yes", "no", "high", "medium", "low", "full-time", "part-time", "single", "married", "offline", "online",
    "offen", "erledigt", "aktiv", "進行中", "完了", "有効", "無効", "进行中", "已完成", "完成",
))
TERM_HEADERS = _words("term terms word concept acronym abbreviation expression 用語 术语 名词 begriff termo")
VALUE_HEADERS = _words("value setting values amount wert valor valeur 値 值 current")
GENERIC_STEMS = _words(
    "index readme home main default untitled note notes new document doc page content about overview license "
    "changelog contributing summary toc _index"
)
NOTE_KIND_TAGS = _words(  # what sort of note it is, not what it is about
    "person people journal diary meeting chat project incident reading decision reference clip clipping how-to howto guide "
    "tutorial hub moc index daily weekly monthly log minutes session interview recipe book article paper quote idea question "
    "answer task template glossary postmortem adr rfc report summary company place til blog essay literature permanent fleeting zettel"
)
WORKFLOW_TAGS = _words(
    "todo open done inbox draft wip note notes misc other tag tags untagged new archive archived starred pinned "
    "private public published blog post page"
)
