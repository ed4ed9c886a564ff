"""A hundred concepts in ten planted groups, and what pages about groups contain."""

from __future__ import annotations

from pathlib import Path

from smb.model.edges import EdgeType
from smb.model.objects import MemoryObject, MemoryType
from evolved import pages
from worlds import rows

GROUPS = {
    "bread": ("Rye Barley Corn Walnut Olive Garlic Banana Spelt Potato Raisin", "is baked from dough in the oven of the bakery until the crust is brown"),
    "knot": ("Reef Anchor Prusik Fisherman Overhand Stopper Butterfly Granny Packer Surgeon", "is tied in a rope by sailors and climbers and holds under load"),
    "violin": ("Baroque Student Electric Concert Travel Folk Carbon Painted Silent Antique", "is played with a bow, its strings are tuned in fifths by the orchestra"),
    "tent": ("Dome Tunnel Ridge Pyramid Family Alpine Beach Festival Canvas Roof", "shelters campers from rain; its poles and pegs are packed in a bag"),
    "comet": ("Periodic Sungrazing Great Lost Interstellar Dark Split Faint Early Twin", "orbits the sun and shows a tail of dust to the telescope of an astronomer"),
    "cheese": ("Goat Sheep Smoked Blue Cream Mountain Washed Farmhouse Monastery Winter", "ripens in the cellar of the dairy; its milk is curdled with rennet"),
    "lathe": ("Wood Metal Bench Turret Vertical Watchmaker Pole Copying Speed Engine", "turns a workpiece against a chisel in the machine shop at a set speed"),
    "orchid": ("Lady Bee Vanilla Moth Ghost Spider Slipper Marsh Lizard Monkey", "flowers in the greenhouse; its roots want moss, shade and moist air"),
    "ferry": ("Night Cable River Car Harbour Island Passenger Chain Rail Summer", "carries passengers and cars from pier to pier by the timetable of the port"),
    "tax": ("Income Land Sales Salt Window Carbon Wealth Estate Payroll Sugar", "is paid to the revenue office; the rate is set in the budget by parliament"),
}


def note(first: str, noun: str, what: str) -> tuple[str, str]:
    """The path and the text of a note on one concept."""
    article = "An" if first[0] in "AEIO" else "A"
    return f"notes/{first.lower()} {noun}.md", f"---\ntags: [{noun}]\n---\n# {first} {noun}\n\n{article} {first.lower()} {noun} {what}.\n"


def hundred() -> dict[str, str]:
    """A note for each of a hundred concepts: path → text."""
    return dict(note(first, noun, what) for noun, (firsts, what) in GROUPS.items() for first in firsts.split())


def members(noun: str) -> set[str]:
    """The titles of a planted group."""
    return {f"{first} {noun}" for first in GROUPS[noun][0].split()}


def contained(bank: Path, *types: MemoryType) -> dict[str, set[str]]:
    """The title of each page of these types → the titles of what it contains."""
    titles = dict(rows(bank, "SELECT id, title FROM memory_objects"))
    return {title: {titles[link.target] for link in page.links if link.type is EdgeType.CONTAINS} for title, page in made(bank, *types).items()}


def made(bank: Path, *types: MemoryType) -> dict[str, MemoryObject]:
    return {title: page for type_ in types for title, page in pages(bank, type_).items()}
