"""Inline markdown: the shortcut equals the parser, code is code, links keep their parts."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smb.ingest import inline
from smb.ingest.inline import Inline, read_fully, read_inline
from smb.ingest.note import WebLink, WikiLink

FRAGMENTS = [
    "*", "**", "_", "__", "`", "``", "[", "]", "](", ")", "(", "[[", "]]", "![", "!", "<", ">", "<b>", "</b>", "<int>", "<!-- c -->", "\\",
    "\\\n", "&amp;", "&", "~", "~~", " ", "\n", "a", "B2", "é", "窯", "#tag", "#", "^id", "|", "https://x.org/a_b", "<https://y.org>", ".",
    "-", "a.md", "[a](b.md)", "**k**", "*e*", "_u_", "`c`", "[[n|m]]", "![[p]]", '<a name="q"></a>', "$x_1$", "'", '"', "\u00a0", "€", "\\*",
    '[t](u "v")', "[^1]", "a_b_c", "* ", " *",
]


@settings(max_examples=1500, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join))
def test_the_shortcut_gives_what_the_parser_gives(content):
    """Where the shortcut answers at all, its answer is markdown-it's."""
    content = content.strip(" \n\t")
    quick = inline._read_simple(content, 7, {})
    assert quick is None or quick == read_fully(content, 7, {})


def test_the_shortcut_answers_the_common_forms():
    """The comparison above isn't empty: the forms notes are full of don't need the parser."""
    for content in (
        "plain `code` and **strong** text", "- **Port:** `8090`", "[a](b.md) and *`x`*", "see [[Kiln|the kiln]] #tag", "snake_case_name *x*",
        "<b>bold</b> <!-- t1 -->", '<a name="x"></a> `C::d`', "one\\\ntwo \\_x", "![alt_text here](a.png)", "**[[Kiln]]**, **[x](y)**",
    ):
        assert inline._read_simple(content, 1, {}) is not None, content


def test_links_keep_heading_block_alias_and_line():
    """C01: every part of a wiki link survives, also with a pipe escaped for a table."""
    read = read_inline("[[kiln|The Kiln]] [[kiln#Safety|s]]\n[[kiln#^b1]] [[#Local]] ![[kiln#Safety]] [[kiln\\|K]]", 3, {})
    assert read.links == (
        WikiLink("kiln", "", "", "The Kiln", False, 3), WikiLink("kiln", "Safety", "", "s", False, 3), WikiLink("kiln", "", "b1", "", False, 4),
        WikiLink("", "Local", "", "", False, 4), WikiLink("kiln", "Safety", "", "", True, 4), WikiLink("kiln", "", "", "K", False, 4),
    )
    assert read.text == "The Kiln s kiln Local kiln K"


@pytest.mark.parametrize("content", ["`[[nope]]` and `#nope`", "``a ` [[nope]] #nope``", "`[x](nope.md) https://nope.org`"])
def test_code_spans_hold_no_links_or_tags(content):
    """C03."""
    read = read_inline(content, 1, {})
    assert (read.links, read.web, read.tags) == ((), (), ())
    assert "nope" in read.text


def test_tags():
    """A tag stands alone, is no number and no C directive, and may be nested and in any script."""
    read = read_inline("#kiln/south, (#窯) a#b issue #12 #y2031 #include \\#no [#in](x) https://a.b/#frag #-", 1, {})
    assert read.tags == ("kiln/south", "窯", "y2031")


def test_web_links():
    """Inline, auto and bare links, as written and without the punctuation after them; an image is no link."""
    read = read_inline("[k](../a%20b.md#x), <https://a.org> (https://b.org/w_(x)). ![p](q.png)\nhttps://c.org/窯。", 5, {})
    assert read.web == (
        WebLink("k", "../a%20b.md#x", 5), WebLink("https://a.org", "https://a.org", 5), WebLink("https://b.org/w_(x)", "https://b.org/w_(x)", 5),
        WebLink("https://c.org/窯", "https://c.org/窯", 6),
    )


def test_reference_links_need_what_the_block_parser_learned():
    assert read_inline("[a][b]", 1, {"references": {"B": {"href": "c.md", "title": ""}}}).web == (WebLink("a", "c.md", 1),)
    assert read_inline("[a][b]", 1, {}).text == "[a][b]"


def test_struck_text_is_taken_back_unless_it_is_all():
    assert read_inline("Port ~~22~~ **49222**", 1, {}).text == "Port 49222"
    assert read_inline("~~all of it~~", 1, {}).text == "all of it"


def test_block_id_comments_and_elements_leave_the_text():
    read = read_inline("Port 8090 is closed.<br>Really <!-- D1:3 --> vector<int> <kbd>x</kbd> ^port-1", 1, {})
    assert read == Inline("Port 8090 is closed. Really vector<int> x", block_id="port-1")


def test_payloads_are_shortened():
    """B10: three megabytes of image become its alternative text, a megabyte of one letter a few."""
    start = time.process_time()
    assert read_inline("![p](data:image/png;base64," + "A" * 3_000_000 + ") Cone 6 reached.", 1, {}).text == "p Cone 6 reached."
    assert len(read_inline("x" * 1_000_000, 1, {}).text) < 300
    assert time.process_time() - start < 1.5


@pytest.mark.parametrize("unit", ["[", "[a", "*a ", "**a", "_a", "`a", "``", "<a", "![", "[[", "\\", "&a", "~~a", "](", "a_", "<!--", "#a", "([", "^a "])
def test_no_content_takes_long(unit):
    """What no rule can close is read in bounded time however often it comes."""
    start = time.process_time()
    read_inline(unit * (100_000 // len(unit)), 1, {})
    read_inline(unit * (3_900 // len(unit)), 1, {})
    assert time.process_time() - start < 1.5
