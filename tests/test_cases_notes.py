"""Small notes of kinds that broke other tools (CASES.md, sections A, B and C), through the whole product.

One bank a kind, with several notes of that kind in it: what was in the notes is found again, what was odd is reported,
and nobody's file is touched.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from smb.stores.object_file import deserialize_memory
from worlds import ask, ingest, rows, truth, write

Notes = dict[str, str | bytes]


class Place:
    """A folder of notes with its bank."""

    def __init__(self, path: Path):
        self.kb, self.bank = path / "notes", path / "bank"
        self.kb.mkdir()

    def read(self, notes: Notes | None = None, **options: Any) -> dict[str, Any]:
        """Writes notes, ingests all; checks that the report adds up and that no byte of the notes changed."""
        write(self.kb, notes or {})
        before = contents(self.kb)
        report = ingest(self.bank, self.kb, **options)
        assert contents(self.kb) == before
        assert report["seen"] == sum(report[k] for k in ("added", "changed", "moved", "unchanged")) + len(report["skipped"])
        return report

    def cited(self, query: str) -> set[tuple[str, int]]:
        """(path, line) of everything `query` brings up."""
        packet = ask(self.bank, "recall", query)
        json.dumps(packet)
        return {(c["path"], c["line_start"]) for item in packet["items"] for c in item["citations"]}

    def first(self, query: str) -> tuple[str, int]:
        """Where the best answer to `query` stands."""
        citation = ask(self.bank, "recall", query)["items"][0]["citations"][0]
        return citation["path"], citation["line_start"]

    def titles(self) -> dict[str, str]:
        return dict(rows(self.bank, "SELECT path, title FROM documents WHERE live = 1"))

    def properties(self, path: str) -> list[tuple[str, str]]:
        """The properties of a note as the ledger has them."""
        (document,) = rows(self.bank, "SELECT id FROM documents WHERE live = 1 AND path = ?", path)
        says = [json.loads(line)["says"] for (line,) in rows(self.bank, "SELECT line FROM revisions WHERE object_id = ?", document[0])]
        return [(key, text) for key, text in says[-1].get("properties", ())]

    def edges(self) -> set[tuple[str, str, str]]:
        return set(rows(self.bank, "SELECT s.title, e.type, t.title FROM edges e JOIN memory_objects s ON s.id = e.source JOIN memory_objects t ON t.id = e.target "
                                   "WHERE s.type != 'claim'"))

    def objects(self) -> set[tuple[str, str]]:
        return set(rows(self.bank, "SELECT id, title FROM memory_objects WHERE standing IN ('current', 'contested')"))

    def object_files(self) -> list[str]:
        return [data.decode() for path, data in truth(self.bank).items() if path.endswith(".md") and not path.startswith("layer-0")]


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {str(p): (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.rglob("*") if p.is_file()}


def warned(report: dict[str, Any]) -> set[tuple[str, str, int | None]]:
    return {(w["path"], w["code"], w.get("line")) for w in report["warnings"]}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# ------------------------------------------------------------------------------------------------ A: front matter


def test_a01_titles_that_are_no_yaml(place: Place) -> None:
    """The title is the rest of its line, the body is read, and the warning says where."""
    titles = {
        "colon.md": "Ferry log: the second crossing (wind: east)", "bracket.md": "[draft] Kelp harvest", "at.md": "@skipper on duty", "percent.md": "%5 of the catch",
        "quoted.md": '"Old" sails, mended', "star.md": "*starred* buoys", "tick.md": "`rope` splices: a list", "brace.md": "{north} pier: repairs",
    }
    facts = {"colon.md": "crossing took 41 minutes", "bracket.md": "kelp bed yielded 9 crates", "quoted.md": "mainsail has 12 patches", "star.md": "buoy 7 is unlit"}
    report = place.read({name: f"---\ntags: [sea]\ntitle: {title}\n---\nThe {facts.get(name, 'note ends here')}.\n" for name, title in titles.items()})
    assert place.titles() == titles
    assert warned(report) == {(name, "frontmatter.malformed", 3) for name in titles}
    for name, fact in facts.items():
        assert place.first(fact) == (name, 5)
    written = {deserialize_memory(text).title for text in place.object_files()}
    assert {title.replace("`", "") for title in titles.values()} <= written


def test_a02_dates_leave_as_text_everywhere(place: Place) -> None:
    report = place.read({
        "log.md": "---\ncreated: 2034-03-05\nupdated: 2034-03-05T10:00:00+02:00\n---\nThe winch was oiled.\n",
        "due.md": "---\ncreated: 2034-03-06\ndue: 2034-02-30\n---\nThe dinghy is leased.\n",
        "late.md": "---\ndate: 2035-13-01\n---\nThe oars are ash wood.\n", "leap.md": "---\nwhen: [2035-01-31, 2035-02-29]\n---\nThe anchor weighs 18 kg.\n",
    })
    assert warned(report) == {("due.md", "date.impossible", 3), ("late.md", "date.impossible", 2), ("leap.md", "date.impossible", 2)}
    assert place.properties("due.md") == [("created", "2034-03-06"), ("due", "2034-02-30")]
    assert place.properties("log.md") == [("created", "2034-03-05"), ("updated", "2034-03-05T10:00:00+02:00")]
    assert rows(place.bank, "SELECT path, date FROM documents WHERE date != '' ORDER BY path") == [("due.md", "2034-03-06"), ("log.md", "2034-03-05")]
    for answer in (ask(place.bank, "recall", "winch oiled"), ask(place.bank, "get", "due.md"), ask(place.bank, "graph_export"), report):
        assert json.loads(json.dumps(answer)) == answer
    assert place.first("how heavy is the anchor") == ("leap.md", 4)


def test_a03_values_stay_as_typed(place: Place) -> None:
    """Neither booleans nor sexagesimals nor octals; a link in a value is a link."""
    values = {"country": "no", "start": "12:30", "zip": "01234", "tags": "#mooring", "up": "[[Harbour]]", "ok": "yes", "version": "1.10", "mass": "1e3", "none": "~", "big": "1_000"}
    place.read({"berth.md": "---\n" + "".join(f"{k}: {v}\n" for k, v in values.items()) + "---\nBerth 4 is free.\n", "Harbour.md": "# Harbour\n\nThe harbour freezes over.\n"})
    assert dict(place.properties("berth.md")) == values
    assert any({a, b} == {"berth", "Harbour"} for a, _, b in place.edges())
    assert json.loads(rows(place.bank, "SELECT tags FROM documents WHERE path = 'berth.md'")[0][0]) == ["mooring"]


def test_a04_a_rule_on_top_is_no_front_matter(place: Place) -> None:
    report = place.read({
        "letter.md": "---\n**FERRY LTD**\n3 Quay Row\n---\nDear Ann, the ramp carries 16 t.\n",
        "sentence.md": "---\nThe tide table was lost in May.\n---\nThe new one is green.\n",
        "list.md": "---\n- two lanterns\n- one horn\n---\nAll stowed aft.\n",
        "open.md": "---\ntitle: never closed\n\nThe bilge pump rattles.\n",
    })
    assert report["warnings"] == [] and report["added"] == 4
    for query, where in {"what does the ramp carry": ("letter.md", 5), "tide table lost": ("sentence.md", 2), "lanterns": ("list.md", 2), "bilge pump": ("open.md", 4)}.items():
        assert where in place.cited(query)
    assert "3 Quay Row" in ask(place.bank, "get", "letter.md")["text"]


def test_a06_only_three_dashes_open_front_matter(place: Place) -> None:
    place.read({
        "columns.md": "--- start-multi-column: West\nThe west mole is 80 m long\n--- end-multi-column\n", "four.md": "----\nkey: The east mole leaks\n----\n",
        "second.md": "\n---\nkey: The south mole is new\n---\n", "spaced.md": " ---\nkey: The north mole is gone\n ---\n",
    })
    for name, query, line in (("columns.md", "west mole", 2), ("four.md", "east mole leaks", 2), ("second.md", "south mole new", 3), ("spaced.md", "north mole gone", 2)):
        assert any(path == name and found <= line for path, found in place.cited(query)), name
        assert place.properties(name) == []
    before = rows(place.bank, "SELECT id, standing FROM memory_objects ORDER BY id")
    ask(place.bank, "rebuild")
    assert rows(place.bank, "SELECT id, standing FROM memory_objects ORDER BY id") == before


def test_a08_duplicate_keys(place: Place) -> None:
    """Both values are kept, the last one counts, the warning names the key and both lines."""
    report = place.read({"job.md": "---\nstatus: open\nowner: Ann\nstatus: closed\n---\nThe hull job.\n", "twice.md": "---\ntitle: Old name\ntitle: New name\n---\nx\n"})
    assert place.properties("job.md") == [("status", "open"), ("owner", "Ann"), ("status", "closed")]
    assert warned(report) == {("job.md", "frontmatter.duplicate_key", 4), ("twice.md", "frontmatter.duplicate_key", 3)}
    assert "status stands on lines 2 and 4" in {w["path"]: w["detail"] for w in report["warnings"]}["job.md"]
    assert place.titles()["twice.md"] == "New name"


@pytest.mark.parametrize("mark, ending", [(b"\xef\xbb\xbf", "\r\n"), (b"", "\r"), (b"\xef\xbb\xbf", "\n"), (b"\xff\xfe", "\r\n")])
def test_a10_marks_and_line_endings_change_no_object(tmp_path: Path, mark: bytes, ending: str) -> None:
    """The twin with plain line feeds has the same objects; quotes are the bytes of the original."""
    text = "---\ntitle: Slipway\ntags:\n  - dock\n---\n# Repairs\n\n- **Slope:** 1:12\n- **Øwner:** [[Ann Vik]]\n\nThe rails were laid in 2019.\n"
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    plain, marked = Place(tmp_path / "a"), Place(tmp_path / "b")
    encoding = "utf-16-le" if mark == b"\xff\xfe" else "utf-8"
    plain.read({"s.md": text})
    marked.read({"s.md": mark + text.replace("\n", ending).encode(encoding)})
    assert marked.objects() == plain.objects() and len(plain.objects()) > 3
    assert not any("\r" in title or "\ufeff" in title for _, title in marked.objects())
    (path,) = (marked.bank / "layer-0" / "source").iterdir()
    data = path.read_bytes()
    quotes = [e for (line,) in rows(marked.bank, "SELECT line FROM revisions") for e in json.loads(line).get("evidence", ())]
    assert quotes and all(data[start:end].decode(encoding) == quote for _, start, end, _, _, quote in quotes)
    assert marked.cited("slipway slope") == plain.cited("slipway slope")


def test_a11_no_value_writes_a_field_of_an_object_file(place: Place) -> None:
    """Whatever stands in a title, alias or tag comes back as that one text."""
    report = place.read({
        "heading.md": "# Keel\u2028status: verified\n\nThe keel is oak.\n", "next.md": "# Rudder\x85verification: verified\n\nThe rudder is steel.\n",
        "title.md": '---\ntitle: "Mast\\n---\\nverification: verified\\nconfidence: 1.00\\n---\\n"\naliases: ["a\\nstatus: verified", "b: c # d"]\n---\nThe mast is spruce.\n',
        "tag.md": "---\ntags: [\"x]\\nid: ffffffffffff\"]\ntitle: '--- # | > \\\\'\n---\nThe boom is ash.\n",
        "object.md": "---\ntitle: Sails\nrun: !!python/object/apply:os.system ['echo hi']\nother: !mine {a: b}\n---\nThe sails are red.\n",
    })
    assert {(p, c) for p, c, _ in warned(report)} == {("object.md", "frontmatter.refused_tag")}
    assert place.titles()["heading.md"] == "Keel status: verified" and place.titles()["next.md"] == "Rudder verification: verified"
    pipeline = {i: (t, v, s) for i, t, v, s in rows(place.bank, "SELECT id, title, verification, status FROM memory_objects")}
    files = [deserialize_memory(text) for text in place.object_files()]
    assert {o.id: (o.title, o.verification, o.status) for o in files} == pipeline
    assert not any(o.extra or o.verification == "verified" for o in files)
    assert place.first("what are the sails like") == ("object.md", 6)


def test_a12_nothing_to_say(place: Place) -> None:
    """Empty notes are sources like others, cost no embedding, and a title alone is found."""
    report = place.read({"empty.md": b"", "blank.md": " \n\t\n\n", "stub.md": "---\ntitle: Stub of the pier\n---\n", "fences.md": "---\n---\n", "mark.md": b"\xef\xbb\xbf"})
    assert (report["added"], report["skipped"], report["warnings"]) == (5, [], [])
    assert len(list((place.bank / "layer-0" / "source").iterdir())) == 5
    assert rows(place.bank, "SELECT DISTINCT d.path FROM passages p JOIN documents d ON d.id = p.document_id") == [("stub.md",)]
    assert place.first("stub of the pier")[0] == "stub.md"
    before = truth(place.bank)
    assert place.read()["unchanged"] == 5 and truth(place.bank) == before


# ------------------------------------------------------------------------------------- B: files, paths, incremental


def test_b01_names_without_a_letter(place: Place) -> None:
    facts = {"🐢.md": "The tortoise sleeps in box 3.", "°.md": "The thermometer is broken.", "[.md": "The bracket shelf holds paint.", "----=-.md": "The dashed line marks the reef.",
             "Зоны.md": "The zones are drawn in chalk.", "a?b*c.md": "The wildcard lamp is blue.", "%41.md": "The percent sign is rusty.", " .md": "The blank door is locked.",
             "..md": "The dotted rope is frayed."}
    hidden = {"..md"}  # begins with a dot: a hidden file
    place.read({name: text + "\n" for name, text in facts.items()})
    for name in facts.keys() - hidden:
        assert place.first(facts[name]) == (name, 1)
    ids = dict(rows(place.bank, "SELECT path, id FROM documents"))
    assert len(set(ids.values())) == len(facts) - 1
    other = Place(_fresh(place))
    other.read({name: text + "\n" for name, text in facts.items()})
    assert dict(rows(other.bank, "SELECT path, id FROM documents")) == ids


def _fresh(place: Place) -> Path:
    path = place.kb.parent / "other"
    path.mkdir()
    return path


def test_b02_names_that_look_alike(place: Place) -> None:
    """Each its own source under its own name; deleting one takes only that."""
    colours = {"my_boat.md": "amber", "my-boat.md": "beige", "my boat.md": "coral", "MY boat.md": "denim", "dir-/a.md": "ebony", "dir/a.md": "fuchsia", "dir /a.md": "green",
               "caf\u00e9.md": "indigo", "cafe\u0301.md": "jade"}
    place.read({name: f"The {colour} boat is painted {colour}.\n" for name, colour in colours.items()})
    for name, colour in colours.items():
        assert place.first(f"{colour} boat painted")[0] == name
    (place.kb / "dir-" / "a.md").unlink()
    assert place.read()["removed"] == 1
    assert set(place.titles()) == set(colours) - {"dir-/a.md"}
    assert all(path != "dir-/a.md" for path, _ in place.cited("ebony boat painted"))


def test_b04_links_and_odd_folders(place: Place, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"far.md": "The far light blinks twice.\n", "deep/more.md": "The deep bell rings.\n"})
    write(place.kb, {"real.md": "The real quay is short.\n", "notes.md/inner.md": "The inner quay is long.\n", "sub/x.md": "The sub quay is new.\n"})
    os.symlink("nowhere.md", place.kb / "gone.md")
    os.symlink(outside / "far.md", place.kb / "far.md")
    os.symlink(outside, place.kb / "away")
    os.symlink("..", place.kb / "sub" / "loop")
    os.symlink("self.md", place.kb / "self.md")
    os.symlink("real.md", place.kb / "twin.md")
    os.mkfifo(place.kb / "pipe.md")
    report = place.read()
    (place.kb / "pipe.md").unlink()
    assert (report["status"], place.read()["status"]) == ("partial", "ok")  # a link not followed is told and loses nothing
    assert set(place.titles()) == {"real.md", "notes.md/inner.md", "sub/x.md"}
    assert {(s["path"], s["reason"]) for s in report["skipped"]} == {
        ("gone.md", "symlink.dangling"), ("far.md", "symlink.outside"), ("away", "symlink.outside"), ("self.md", "symlink.loop"), ("pipe.md", "not_a_file")}
    assert all(s["detail"] for s in report["skipped"])
    followed = place.read(follow_symlinks=True)
    assert followed["added"] == 2 and {"away/far.md", "away/deep/more.md"} <= set(place.titles())  # each file once


def test_b04_a_root_reached_through_a_link(place: Place, tmp_path: Path) -> None:
    write(place.kb, {"a.md": "The first crane lifts 5 t.\n", "b/c.md": "The second crane lifts 9 t.\n"})
    os.symlink(place.kb, tmp_path / "linked")
    assert ingest(place.bank, tmp_path / "linked")["added"] == 2
    assert place.first("what does the second crane lift") == ("b/c.md", 1)
    assert ingest(place.bank, place.kb)["unchanged"] == 2


def test_b05_what_is_deleted_is_gone_from_every_channel(place: Place) -> None:
    place.read({"winch.md": "# Winch\n\nThe winch pulls 800 kg. See [[Cable]].\n", "cable.md": "# Cable\n\nThe cable is 60 m long.\n"})
    (place.kb / "winch.md").unlink()
    items = ask(place.bank, "recall", "what does the winch pull")["items"]
    assert {item.get("stale") for item in items if {c["path"] for c in item["citations"]} == {"winch.md"}} == {"source_missing"}
    assert {item.get("stale") for item in items if "cable.md" in {c["path"] for c in item["citations"]}} == {None}
    assert place.read()["removed"] == 1
    packet = ask(place.bank, "recall", "what does the winch pull")
    assert "winch.md" not in json.dumps(packet["items"]) and "800 kg" not in json.dumps(packet["items"])
    assert not any("winch" in title.casefold() for _, title in place.objects())
    assert rows(place.bank, "SELECT count(*) FROM passages_fts f JOIN passages p ON p.rowid = f.rowid WHERE p.live = 1 AND passages_fts MATCH 'winch'") == [(0,)]
    (place.kb / "cable.md").unlink()
    place.read()
    assert ask(place.bank, "recall", "how long is the cable")["items"] == []
    assert place.objects() == set()


def test_b07_moves_keep_identity(place: Place) -> None:
    """Into another folder, to another name, two swapped: the document goes with its bytes."""
    place.read({"a/x.md": "The tug has 2 engines.\n", "y.md": "# Barge\n\nThe barge has none.\n", "p.md": "The ferry has 4 decks.\n", "q.md": "The raft has 1 oar.\n"})
    ids = dict(rows(place.bank, "SELECT path, id FROM documents"))
    objects = place.objects()
    (place.kb / "b").mkdir()
    (place.kb / "a" / "x.md").rename(place.kb / "b" / "x.md")
    (place.kb / "y.md").rename(place.kb / "zebra.md")
    report = place.read()
    assert (report["moved"], report["added"], report["removed"], report["unchanged"]) == (2, 0, 0, 2)
    now = dict(rows(place.bank, "SELECT path, id FROM documents WHERE live = 1"))
    assert (now["b/x.md"], now["zebra.md"]) == (ids["a/x.md"], ids["y.md"])
    assert {i for i, _ in objects} == {i for i, _ in place.objects()}
    assert [r["says"]["path"] for r in ask(place.bank, "history", now["b/x.md"])["revisions"]] == ["a/x.md", "b/x.md"]
    assert len(list((place.bank / "layer-0" / "source").iterdir())) == 4


def test_b10_data_in_notes(place: Place) -> None:
    """Payloads become placeholders, what stands beside them is found, and it takes no long time."""
    started = time.process_time()
    place.read({
        "picture.md": "![p](data:image/png;base64," + "iVBORw0K" * 375_000 + ")\nThe mooring ring is bronze.\n", "letter.md": "z" * 1_000_000 + "\n\nThe capstan is teak.\n",
        "same.md": "The fender is cork. ![q](data:image/jpeg;base64," + "A" * 1_000_000 + ") The cleat is iron.\n", "hex.md": "```\n" + "deadbeef" * 60_000 + "\n```\n\nThe davit is bent.\n",
        "table.md": "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 3_000 + "\nThe hatch is shut.\n", "deep.md": "> " * 10_000 + "x\n\n" + "- " * 10_000 + "y\n\nThe binnacle is brass.\n",
        "marks.md": "The sextant is boxed.\n\n" + "[" * 200_000 + "\n\n" + "*a " * 5_000 + "\n\n" + "`" * 99_999 + "\n",
    })
    assert time.process_time() - started < 20
    for query, where in {"mooring ring": ("picture.md", 2), "capstan": ("letter.md", 3), "davit": ("hex.md", 5), "hatch": ("table.md", 3004), "binnacle": ("deep.md", 5), "sextant": ("marks.md", 1)}.items():
        assert where in place.cited(query), query
    assert ("same.md", 1) in place.cited("what is the cleat made of")
    longest = dict(rows(place.bank, "SELECT d.path, max(length(p.text)) FROM passages p JOIN documents d ON d.id = p.document_id GROUP BY d.path"))
    assert longest["picture.md"] < 200 and longest["letter.md"] < 100 and longest["hex.md"] < 200 and longest["same.md"] < 200
    assert max(len(text) for text in place.object_files()) < 20_000


def test_b11_files_that_are_no_text(place: Place) -> None:
    report = place.read({
        "fine.md": "The fine net has 2 cm meshes.\n", "picture.md": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "paper.md": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
        "nul.md": b"The net\x00is torn.\n", "torn.md": "Der Köder läuft über Nacht häufig schräg.\n".encode()[:-9] + b"\xc3 x\n", "cut.md": b"\xff\xfeA",
        "café.md": "Le café du port est fermé.\n".encode("latin-1"), "win.md": "The “old” net – 5 €.\n".encode("cp1252"), "порт.md": ("Сеть сушится на причале у старого маяка. " * 8).encode("cp1251"),
    })
    reasons = {s["path"]: s["reason"] for s in report["skipped"]}
    assert reasons == {"picture.md": "binary", "paper.md": "binary", "nul.md": "binary", "torn.md": "undecodable", "cut.md": "undecodable"}
    assert all(s["detail"] for s in report["skipped"]) and {s["path"]: s["line"] for s in report["skipped"]}["torn.md"] == 1
    assert {p for p, c, _ in warned(report) if c == "encoding.guessed"} == {"café.md", "win.md", "порт.md"}
    assert place.first("fine net meshes") == ("fine.md", 1)
    for name, quote in (("café.md", "Le café du port est fermé."), ("win.md", "The “old” net – 5 €."), ("порт.md", "Сеть сушится")):
        assert ask(place.bank, "get", name)["text"].startswith(quote)
    assert ask(place.bank, "recall", "café du port")["items"][0]["citations"][0]["quote"] == "Le café du port est fermé."


def test_b11_an_unreadable_file(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    write(place.kb, {"fine.md": "The net is dry.\n", "locked.md": "secret\n", "closed/in.md": "secret\n"})
    def refusing(real: Any, name: str) -> Any:  # played: root reads a file of mode 000 all the same
        def call(path: Any, *args: Any, **options: Any) -> Any:
            if isinstance(path, (str, os.PathLike)) and os.fspath(path).endswith(name):
                raise PermissionError(13, "Permission denied", os.fspath(path))
            return real(path, *args, **options)
        return call

    monkeypatch.setattr("builtins.open", refusing(open, "/locked.md"))
    monkeypatch.setattr(os, "scandir", refusing(os.scandir, "/closed"))
    report = ingest(place.bank, place.kb)
    monkeypatch.undo()
    assert {(s["path"], s["reason"]) for s in report["skipped"]} == {("locked.md", "unreadable"), ("closed", "unreadable")} and report["added"] == 1


# --------------------------------------------------------------------------------------------- C: links, embeds, tags


def test_c01_every_form_of_a_link_leads_there(place: Place) -> None:
    forms = ("[[gear|The Gear]]", "[[gear#Winter|w]]", "[[gear#^k1]]", "![[gear#Winter]]", "[gear](gear.md#Winter)", "[[Gear.md]]", "[[#Local]]")
    place.read({"gear.md": "# Gear\n\n## Winter\n\nCrampons are in crate 2. ^k1\n", "all.md": " ".join(forms) + "\n\n| Item | Where |\n|---|---|\n| [[gear\\|G]] | loft |\n",
                **{f"f{n}.md": f"Packing list {n}.\n\n{form}\n" for n, form in enumerate(forms)}})
    assert {s for s, kind, t in place.edges() if kind == "references" and t == "Gear"} == {"all", "f0", "f1", "f2", "f3", "f4", "f5"}
    assert rows(place.bank, "SELECT * FROM dangling") == []
    quotes = {span.quote for text in place.object_files() if (o := deserialize_memory(text)).type == "relationship" for span in o.evidence}
    assert {"[[gear#Winter|w]]", "[[gear#^k1]]", "![[gear#Winter]]", "[gear](gear.md#Winter)"} <= quotes
    weights = rows(place.bank, "SELECT t.title, e.weight FROM edges e JOIN memory_objects s ON s.id = e.source JOIN memory_objects t ON t.id = e.target "
                               "WHERE s.title = 'all' AND e.type = 'references'")
    assert sorted(weights) == [("Gear", 7.0), ("all", 1.0)]  # the row's link too, in one relationship; the self edge apart
    assert sorted(e[0] for e in place.edges() if e[0] == e[2]) == ["all", "f6"] and not any("Local" in title for _, title in place.objects())


def test_c03_code_holds_neither_links_nor_tags(place: Place) -> None:
    place.read({"tool.md": "Use `[[nope]]` and `#nope` here, or ``[[nope]] ` #nope``.\n\n```md\n[[nope]] #nope [x](nope.md)\n```\n\n    [[nope]] #nope\n\n~~~\n[[nope]]\n~~~\n\n"
                           "<!-- [[nope]] #nope -->\n\n\\[\\[nope]] \\#nope [[real]] #real\n"})
    assert json.loads(rows(place.bank, "SELECT tags FROM documents")[0][0]) == ["real"]
    assert not any("nope" in title.casefold() for _, title in place.objects())
    assert not any("nope" in text for edge in place.edges() for text in edge)
    assert rows(place.bank, "SELECT * FROM dangling") == []


def test_c04_notes_that_embed_each_other(place: Place) -> None:
    report = place.read({
        "self.md": "The compass is dry.\n\n![[self]]\n", "a.md": "# Chart\n\nThe chart is from 1911. ^x\n\n![[b]]\n", "b.md": "# Buoyage\n\nSystem A is used.\n\n![[a#^x]]\n",
        "round.md": "# Round\n\n## One\n\nFirst leg.\n\n![[#One]]\n", "block.md": "Look: ![[block#^me]] ^me\n", "fine.md": "# Fine\n\n## Two\n\nSecond leg.\n\n## Three\n\n![[#Two]]\n",
    })
    assert warned(report) == {("self.md", "embed.cycle", 3), ("round.md", "embed.cycle", 7), ("block.md", "embed.cycle", 1)}
    assert {("Chart", "references", "Buoyage"), ("Buoyage", "references", "Chart")} <= place.edges()
    assert [one.get("cut", "")[:10] for one in ask(place.bank, "get", "self.md", expand=True)["expanded"]["content"]] == ["", "leads back"]
    assert ("self.md", 1) in place.cited("is the compass dry") and {("a.md", 3), ("b.md", 3)} <= place.cited("chart 1911 buoyage system")


def test_one_bad_note_stops_nothing_and_is_told_every_time(place: Place) -> None:
    first = place.read({"a.md": "---\nt: x: y\n---\nThe lamp is lit.\n", "b.md": b"\xff\xfe\x00", "c.md": "[[a]] ![[c]]\n", "d.md": "", "e.md": "---\n"})
    assert (first["status"], first["added"], [s["path"] for s in first["skipped"]]) == ("partial", 4, ["b.md"])
    before = truth(place.bank)
    report = place.read()
    assert (report["unchanged"], report["skipped"]) == (4, first["skipped"]) and truth(place.bank) == before
