"""`smb get --expand`: what a note embeds, shown where it embeds it, to an end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smb.embeds import MOST_PARTS, NothingToExpand
from smb.ingest.read import note_in
from smb.ingest.wiki_link import embeds_in
from shell import Ran
from worlds import ask, ingest, rows, write

Part = dict[str, Any]


class Shelf:
    """Notes, their bank, and what they look like expanded."""

    def __init__(self, path: Path, notes: dict[str, str | bytes]):
        self.bank = path / "bank"
        ingest(self.bank, write(path / "notes", notes))

    def part(self, reference: str) -> Part:
        return ask(self.bank, "get", reference, expand=True)["expanded"]

    def shown(self, reference: str) -> list[str]:
        """One line an entry, in reading order: `path:first-last > text`, indented as deep as it is embedded, and `! embed`."""
        return list(flat(self.part(reference)))


def flat(part: Part, depth: int = 0) -> Iterator[str]:
    for one in part["content"]:
        if "text" in one:
            yield "  " * depth + f"{part['path']}:{one['line_start']}-{one['line_end']} > {one['text']}"
        elif "cut" in one:
            yield "  " * depth + f"! {one['embed']}"
        else:
            yield from flat(one, depth + 1)


def parts(part: Part, above: tuple[Part, ...] = ()) -> Iterator[tuple[Part, tuple[Part, ...]]]:
    """Every embedded part with the parts around it, outermost first."""
    for one in part["content"]:
        if "content" in one:
            yield one, (*above, part)
            yield from parts(one, (*above, part))


def test_two_notes_that_embed_each_other_are_shown_in_full(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, {"a.md": "# Ash\n\nAsh bends well. ^x\n\n![[b]]\n\nThat was beech.\n", "b.md": "# Beech\n\nBeech is hard.\n\n![[a#^x]]\n"})
    assert shelf.shown("a.md") == [
        "a.md:1-3 > # Ash\n\nAsh bends well. ^x", "  b.md:1-3 > # Beech\n\nBeech is hard.", "    a.md:3-3 > Ash bends well. ^x", "a.md:7-7 > That was beech."]
    assert shelf.shown("b.md") == ["b.md:1-3 > # Beech\n\nBeech is hard.", "  a.md:3-3 > Ash bends well. ^x"]
    said = Ran("get", "a.md", "--expand", "--bank", shelf.bank).out
    assert [line for line in said.splitlines() if "┌" in line] == ["   ┌ b.md:1-5  ![[b]]", "   │    ┌ a.md:3  ![[a#^x]]"]
    assert said.count("Beech is hard.") == 1 and said.count("Ash bends well.") == 2 and "embeds" not in said


def test_what_leads_back_is_cut_once(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, {
        "self.md": "---\ntitle: Elm\n---\nElm splits.\n\n![[self]]\n\n![[Elm#^none]]\n", "one.md": "First.\n\n![[two]]\n", "two.md": "Second.\n\n![[three]]\n",
        "three.md": "Third.\n\n![[one]]\n", "part.md": "# Fir\n\n## Bark\n\nRough.\n\n![[part#Fir]]\n",
    })
    assert shelf.shown("self.md") == ["self.md:1-4 > ---\ntitle: Elm\n---\nElm splits.", "! ![[self]]", "self.md:8-8 > ![[Elm#^none]]"]
    assert shelf.shown("one.md") == ["one.md:1-1 > First.", "  two.md:1-1 > Second.", "    three.md:1-1 > Third.", "    ! ![[one]]"]
    assert shelf.shown("part.md") == ["part.md:1-5 > # Fir\n\n## Bark\n\nRough.", "! ![[part#Fir]]"]
    assert "![[self]]  leads back to what is shown around it" in Ran("get", "self.md", "--expand", "--bank", shelf.bank).out


def test_every_web_of_embeds_ends_and_shows_nothing_within_itself(tmp_path: Path) -> None:
    places = [f"![[n{n}{part}]]" for n in range(3) for part in ("", "#Top", "#^p")]
    shelf = Shelf(tmp_path, {f"n{n}.md": f"# Note {n}\n\n## Top\n\nPoint. ^p\n\n" + "\n\n".join(places) + "\n" for n in range(3)})
    whole = shelf.part("n0.md")
    found = list(parts(whole))
    assert 20 < len(found) <= MOST_PARTS
    for part, above in found:
        around = [one for one in above if one["path"] == part["path"]]
        assert not any(part["line_start"] <= one["line_start"] and one["line_end"] <= part["line_end"] for one in around)


def test_notes_that_embed_the_next_twice_do_not_double_without_end(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, {f"n{n}.md": f"Step {n}.\n\n![[n{n + 1}]]\n\n![[n{n + 1}]]\n" for n in range(30)})
    whole = shelf.part("n0.md")
    assert len(list(parts(whole))) == MOST_PARTS
    assert any(f"more than {MOST_PARTS} embeds" in one.get("cut", "") for part, _ in parts(whole) for one in part["content"])


def test_an_embed_is_the_section_the_block_or_the_note_it_names(tmp_path: Path) -> None:
    long = "The grain runs true. " * 120
    shelf = Shelf(tmp_path, {
        "oak.md": "---\ntags: [wood]\n---\n\n# Oak\n\nOak is heavy.\n\n## Joints: how?\n\nDowels.\n\n### Glue\n\nHide glue.\n\n## Finish\n\nOil.\n\n## Other\n\n### Glue\n\nNone.\n\n"
                  f"- plane ^tools\n  - iron\n    - edge\n- saw\n\n{long} ^grain\n",
        "m.md": "![[oak#Joints how]]\n\n![[oak#Glue]]\n\n![[Oak#Other#Glue]]\n\n![[oak#^tools]]\n\n![[oak#finish|the finish]]\n\n![[oak#^TOOLS]]\n",
        "all.md": "![[oak]]\n", "grain.md": "![[oak#^grain]]\n",
    })
    assert shelf.shown("m.md")[:2] == ["  oak.md:9-15 > ## Joints: how?\n\nDowels.\n\n### Glue\n\nHide glue.", "  oak.md:13-15 > ### Glue\n\nHide glue."]
    assert shelf.shown("m.md")[2].startswith("  oak.md:23-32 > ### Glue\n\nNone.")
    assert shelf.shown("m.md")[3:] == [
        "  oak.md:27-29 > - plane ^tools\n  - iron\n    - edge", "  oak.md:17-19 > ## Finish\n\nOil.", "  oak.md:27-29 > - plane ^tools\n  - iron\n    - edge"]
    (whole,) = shelf.shown("all.md")
    assert whole.startswith("  oak.md:5-32 > # Oak\n") and whole.endswith("^grain")
    assert shelf.shown("grain.md") == [f"  oak.md:32-32 > {long} ^grain"]


def test_what_is_missing_or_no_embed_stays_as_written(tmp_path: Path) -> None:
    text = "`![[b]]` \\![[b]] [[b]] ![[gone]] ![[b#Nothing]] ![[b#^none]] ![[pic.png|300]]\n\n```\n![[b]]\n```\n\n    ![[b]]\n\nEnd ``![[b]] ` `` so.\n"
    shelf = Shelf(tmp_path, {"a.md": text, "b.md": "Birch.\n"})
    assert shelf.shown("a.md") == [f"a.md:1-9 > {text.rstrip()}"]


def test_an_embed_within_a_line_is_shown_within_it(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, {
        "a.md": "Take ![[b]] or ![[b]], see `![[b]]`.\nNext.\n\n| Wood | Note |\n|---|---|\n| birch | ![[b\\|B]] |\n\n> ![[b]]\n", "b.md": "Birch.\n"})
    birch = "  b.md:1-1 > Birch."
    assert shelf.shown("a.md") == [
        "a.md:1-1 > Take", birch, "a.md:1-1 > or", birch, "a.md:1-6 > , see `![[b]]`.\nNext.\n\n| Wood | Note |\n|---|---|\n| birch |", birch, "a.md:6-8 > |\n\n>", birch]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_lines_count_in_the_file_whatever_ends_them(tmp_path: Path, ending: str, encoding: str) -> None:
    text = "Ärle ist weich.\n\n![[b]]\n\n\nÖl hilft. 𝄞\n".replace("\n", ending)
    shelf = Shelf(tmp_path, {"a.md": text.encode(encoding), "b.md": f"Ulme.{ending}![[a#^none]]{ending}".encode(encoding)})
    assert shelf.shown("a.md") == ["a.md:1-1 > Ärle ist weich.", "  b.md:1-2 > Ulme.\n![[a#^none]]", "a.md:6-6 > Öl hilft. 𝄞"]


def test_the_nearest_note_of_a_name_is_meant(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, {
        "x/index.md": "![[yew]] ![[y/yew]] ![[x/yew.md]] ![[The Hedge]] ![[README]] ![[../z/deep]]\n", "x/yew.md": "Yew in x.\n", "y/yew.md": "Yew in y.\n",
        "hedge.md": "---\naliases: [the hedge]\n---\nHedge.\n", "far/off/README.md": "Read me.\n", "z/deep.md": "Deep.\n", "x/100%.md": "Hundred.\n", "y/near.md": "![[yew]]\n", "p.md": "![[100%]] ![[x/100%25]]\n",
    })
    assert [line.strip() for line in shelf.shown("x/index.md")] == [
        "x/yew.md:1-1 > Yew in x.", "y/yew.md:1-1 > Yew in y.", "x/yew.md:1-1 > Yew in x.", "hedge.md:4-4 > Hedge.", "far/off/README.md:1-1 > Read me.", "z/deep.md:1-1 > Deep."]
    assert shelf.shown("y/near.md") == ["  y/yew.md:1-1 > Yew in y."]
    assert [line.strip() for line in shelf.shown("p.md")] == ["x/100%.md:1-1 > Hundred."] * 2


def test_some_lines_an_id_and_the_object_of_a_note_can_be_expanded(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, {"a.md": "# Ash\n\n- **Length:** 4 m\n\n![[b]]\n", "b.md": "Beech.\n"})
    assert shelf.shown("a.md:5") == shelf.shown("a.md:4:2") == ["  b.md:1-1 > Beech."]
    ((document, primary),) = rows(shelf.bank, "SELECT id, primary_object FROM documents WHERE path = 'a.md'")
    assert shelf.shown(document) == shelf.shown(primary) == shelf.shown("a.md") == ["a.md:1-3 > # Ash\n\n- **Length:** 4 m", "  b.md:1-1 > Beech."]
    ((claim,),) = rows(shelf.bank, "SELECT id FROM memory_objects WHERE attribute = 'length'")
    with pytest.raises(NothingToExpand, match="is a claim"):
        shelf.part(claim)
    plain = ask(shelf.bank, "get", "a.md")
    assert "expanded" not in plain and ask(shelf.bank, "get", "a.md", expand=True)["text"] == plain["text"]


def test_empty_notes_expand_to_nothing(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, {"a.md": "![[void]] ![[stub]]\n", "void.md": "", "stub.md": "---\ntitle: Stub\n---\n"})
    assert shelf.shown("a.md") == [] and shelf.shown("void.md") == []
    assert shelf.shown("stub.md") == ["stub.md:1-3 > ---\ntitle: Stub\n---"]


def test_places_of_embeds_are_where_they_are_written() -> None:
    text = "---\nup: \"![[p]]\"\n---\n![[a]] `![[a]]` ![[ b#c | d ]]\n\n- ![[e#^f]]\n"
    note = note_in("n.md", "0" * 64, text.encode())
    assert note is not None and [text[a:b] for a, b, _ in embeds_in(note)] == ["![[a]]", "![[ b#c | d ]]", "![[e#^f]]"]
