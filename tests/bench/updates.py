"""How often a newer statement outranks the older one it updates. usage: python tests/bench/updates.py [--show] [--lexical]

Writes knowledge bases in which each of the facts below is stated, talked around, and later stated anew, in four shapes (a
chat between two people, a chat with an assistant, dated notes, one long undated chat), asks the present-tense question
of each and looks at which of the two statements comes first. Where neither or only one is among the first 20 it counts as
found or not found accordingly. 0.5 is what chance gives. All facts are made up here.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from smb import Bank

FACTS = [line.split(" | ") for line in """
Which database does the booking service use? | The booking service uses MariaDB as its database, which was quick to set up. | I ported the booking service over to Postgres last night.
How many members does our rowing club have? | Our rowing club has 34 members at the moment. | Three more people joined the rowing club, so that makes 37 of us.
What is the response time of my search endpoint? | My search endpoint has a response time of about 420 ms. | After adding the cache the search endpoint answers in 180 ms.
Where does Ilka live? | Ilka lives in Tromso, in a flat by the harbour where she has lived for years. | Ilka has settled into her new place in Bodo.
What is the deadline of the grant application? | The deadline of the grant application is 14 March. | They extended the grant application to 2 April.
Who teaches the pottery class? | The pottery class is taught by Matteo on Tuesdays. | Since Matteo left, Lucia runs the pottery class.
How much do I pay for the studio rent? | I pay 640 euros for the studio rent every month. | The landlord wants 710 for the studio from this month on.
What time does the bakery open? | The bakery opens at seven on weekdays. | The bakery's door is open from half past six these days.
Which framework is the dashboard written in? | The dashboard is written in Svelte because we liked its size. | We rewrote the dashboard in plain TypeScript with Lit.
How many chapters of my novel are finished? | I have finished 9 chapters of my novel so far. | Chapter twelve of the novel is done.
What is my target weight for the deadlift? | My target weight for the deadlift is 120 kg by summer. | I raised the deadlift goal to 135 kg.
What is the budget of the garden project? | The budget of the garden project is 4,500 in total. | The committee gave the garden project 6,200 after all.
Which day is the team meeting? | Our team meeting is on Mondays at ten. | The team meeting takes place on Thursdays.
How many test cases does the parser have? | The parser has 210 test cases in its suite. | We are at 265 test cases for the parser.
What car does Noor drive? | Noor drives an old red Volvo that she inherited from her uncle. | Noor picked up her electric Renault.
What is the coverage of the payment module? | Test coverage of the payment module is 71 percent. | Coverage went up to 84 percent in the payment module.
Which colour is the kitchen wall? | The kitchen wall is painted in a pale yellow colour. | We repainted the kitchen wall sage green.
Who is my thesis supervisor? | My thesis supervisor is Professor Okafor from the chemistry department. | Dr Lindqvist took over supervising my thesis.
How long is the swimming practice? | Swimming practice is 45 minutes long. | We stay a full hour at swimming practice.
Which port does the metrics server listen on? | The metrics server listens on port 9100. | I had to put the metrics server on 9215 because of a clash.
What is the name of our cat? | We named our cat Biscuit, after a lot of debate about the name. | The children insisted, so the cat answers to Pixel.
How many hours do I work at the library? | I work 12 hours a week at the library. | My library contract went to 18 hours.
What is the password rotation interval? | The password rotation interval is 90 days for all staff. | Security cut the password rotation to 60 days.
Where is the winter retreat? | The winter retreat is planned in Zermatt near the glacier. | We booked the winter retreat in Davos.
What is the price of the annual ticket? | The price of the annual ticket is 365 euros. | The annual ticket costs 399.
Which language is Teo learning? | Teo is learning Portuguese with an app every evening. | Teo dropped that and studies Finnish.
How many followers does the podcast have? | The podcast has 1,200 followers since the launch. | We passed 1,950 followers with the podcast.
What is the size of the training set? | The size of the training set is 40,000 images. | We grew the training set to 55,000 images.
Who plays bass in the band? | Ravi plays bass in the band and has done so from the beginning. | Ravi is on keys, and Mina plays bass for the band.
What is the current version of the firmware? | The firmware is at version 3.2, which we flashed on all boards. | All boards run firmware 3.5.
What does Petra eat for breakfast? | Petra eats oatmeal with honey for breakfast every day. | Petra has eggs at breakfast, her doctor told her to.
Where do we keep the backups? | We keep the backups on a disk in the basement. | The backups go to a bucket in Frankfurt.
How many bees hives do we own? | We own five hives of bees behind the shed. | With the swarm we caught we own seven hives.
What is the retry limit of the importer? | The retry limit of the importer is 3 attempts. | I set the importer to retry 5 times.
Which hotel is the conference in? | The conference is in the hotel Meridian downtown. | The organisers moved the conference to the hotel Astoria.
What is the dose of my medicine? | My dose of the medicine is 20 mg in the morning. | The doctor lowered my medicine to 10 mg.
Who is the captain of the team? | Selma is the captain of the team this season. | The team voted, and Jonas wears the captain's band.
How many rows does the orders table have? | The orders table has 2.1 million rows. | The orders table grew to 3.4 million rows.
What is the temperature of the greenhouse? | We keep the temperature of the greenhouse at 18 degrees. | We let the greenhouse run at 21 degrees for the seedlings.
What is the subject of the workshop? | The subject of the workshop is bookbinding with linen thread. | We changed the workshop: it will be about paper marbling.
When does the train to Ghent leave? | The train to Ghent leaves at 8:12 from platform four. | With the timetable change the Ghent train goes at 8:27.
What editor does Sanne use? | Sanne uses Vim as her editor for all her work. | Sanne is on Helix full time.
How many plants are on the balcony? | There are 11 plants on the balcony including the fig. | I counted 16 plants on the balcony.
What is the limit of the upload size? | The limit of the upload size is 25 MB per file. | Uploads of 50 MB go through with the limit we set on the proxy.
Which school does Emre go to? | Emre goes to the Linden school around the corner. | Emre started at the Waldhof school.
What is the goal of my savings? | The goal of my savings is 8,000 for a boat. | I want 11,000 in savings, boats got dearer.
Which sensor is in the weather station? | The weather station has a DHT22 sensor for humidity. | I swapped in a BME280 at the weather station.
What do we feed the dog? | We feed the dog dry food from the market. | The dog gets fresh turkey, the vet advised it.
How many pages is the report? | The report is 48 pages with the annexes. | The report came to 61 pages.
What is the learning rate of the model? | The learning rate of the model is 0.001 with a cosine schedule. | The model trains at 0.0003.
Where is the key of the cellar? | The key of the cellar is in the blue drawer. | I hung the cellar key behind the door.
Who is my dentist? | My dentist is Dr Abreu in the old town. | I see Dr Hansen for my teeth, a dentist near work.
How many guests are invited to the wedding? | We invited 80 guests to the wedding. | The guest list for the wedding is down to 62.
What is the queue size of the worker? | The queue size of the worker is 500 messages. | I let the worker hold 800 messages in its queue.
Which tent do we take on the hike? | We take the two person tent on the hike. | For the hike we borrowed a bigger tent, the geodesic one.
What is the colour of the logo? | The colour of the logo is teal on white. | The logo became dark orange.
How often do I water the ferns? | I water the ferns twice a week. | The ferns get water every other day.
What is the name of the new product? | The name of the new product is Lumen, as marketing proposed. | Legal objected, so the product will be called Solvio.
How far do I run on Sundays? | I run 12 km on Sundays along the canal. | On Sundays I do 16 km along the canal.
Which cloud region do we deploy to? | We deploy to the region in Dublin for all services. | Everything deploys to the Stockholm region.
What is the capacity of the hall? | The capacity of the hall is 220 seats. | With the balcony closed the hall seats 180.
Who writes the newsletter? | Agnes writes the newsletter each month. | Piotr writes the newsletter, Agnes needed a break.
What is the batch size of the job? | The batch size of the job is 64 records. | The job processes batches of 128 records.
Which instrument does Yara play? | Yara plays the clarinet in the school orchestra. | Yara plays the oboe in the orchestra.
""".strip().splitlines()]

CHATTER = [
    "That reminds me of what we said about it the other week.", "How was the weather over there?", "I slept badly, the neighbours had a party.",
    "Let me think about that for a moment.", "We should take more pictures.", "It took the whole afternoon but it was worth it.",
    "I made soup and we watched an old film.", "Do you still have the recipe?", "I am reading a book about lighthouses.",
    "Thanks, that helps a lot!", "The bus was late again.", "My sister is visiting next weekend.", "I cleaned the whole flat.",
    "Can you explain that in more detail?", "Sounds good to me.", "I will try it tomorrow and tell you.", "No worries at all.",
]
ADVICE = [
    "That is a good question. There are a few things to consider: start small, measure, and write down what you find. Then change one thing at a time and compare.",
    "Happy to help! Here are some steps you can follow:\n1. Look at what you have.\n2. Decide what matters most.\n3. Try it for a week and see.",
    "Great progress! Keep in mind that it is normal for this to take a while. If something goes wrong, go back one step and check your assumptions.",
]
ABOUT = ["I wonder whether {} is really what I want.", "Someone asked me about {} yesterday.", "Can you give me tips regarding {}?", "Tell me what people usually say of {}."]


@dataclass(frozen=True, slots=True)
class Update:
    """One fact in one knowledge base: where its two statements stand, as (path, line)."""

    question: str
    old: tuple[str, int]
    new: tuple[str, int]


def topic(question: str) -> str:
    """The question's subject, to talk around it."""
    words = question.rstrip("?").split()
    skip = {"What", "Which", "How", "Who", "Where", "When", "is", "are", "does", "do", "the", "of", "many", "much", "often", "far", "long", "has", "have"}
    return "the " + " ".join(word for word in words if word not in skip and word.lower() not in ("my", "our", "we", "i"))


def written(shape: str, folder: Path, seed: int) -> list[Update]:
    """Writes one knowledge base of a shape; all facts, their old statements first, some weeks apart."""
    chance, made, day = random.Random(seed), [], date(2031, 1, 6)
    places: dict[tuple[int, str], tuple[str, int]] = {}
    told = [(n, "old") for n in range(len(FACTS))]
    chance.shuffle(told)
    later = [(n, "new") for n, _ in told]
    chance.shuffle(later)
    sessions = [told[i : i + 4] for i in range(0, len(told), 4)] + [later[i : i + 4] for i in range(0, len(later), 4)]
    lines: list[str] = []
    for number, session in enumerate(sessions, 1):
        day += timedelta(days=chance.randint(2, 9))
        name = {"people": f"talk/{day}.md", "assistant": f"chat/session_{number:02d}.md", "notes": f"notes/{day} log {number}.md", "long": "long/chat.md"}[shape]
        head = {"people": ["---", f"date: {day}T18:30", "---", ""], "assistant": [f"# Session {number}", "", f"Date: {day}", ""],
                "notes": ["---", f"date: {day}", "tags: [log]", "---", f"# Log of {day}", ""], "long": [] if lines else ["# Chat", ""]}[shape]
        lines = (lines if shape == "long" else []) + head
        for fact, age in session:
            for text, mark in _around(FACTS[fact], age, shape, chance):
                lines += _line(text, mark, shape, chance)
                if mark == "fact":
                    places[(fact, age)] = (name, next(n for n in range(len(lines), 0, -1) if text.split("\n")[0] in lines[n - 1]))
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", "utf-8")
    for fact, (question, _, _) in enumerate(FACTS):
        made.append(Update(question, places[(fact, "old")], places[(fact, "new")]))
    return made


def _around(fact: list[str], age: str, shape: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    """(text, who: "fact", "user" or "other") of the turns in which a statement stands."""
    question, old, new = fact
    for _ in range(chance.randint(1, 2)):
        yield chance.choice(CHATTER), "user"
        yield chance.choice(ADVICE if shape in ("assistant", "long") else CHATTER), "other"
    yield chance.choice(ABOUT).format(topic(question)), "user"
    yield chance.choice(ADVICE if shape in ("assistant", "long") else CHATTER), "other"
    said = old if age == "old" else new
    if age == "new" and FACTS.index(fact) % 2:  # half of the newer statements name their topic as the question does
        said = f"About {topic(question)}: {new[0].lower() if new[1:2].islower() and new[:2] != 'I ' else new[0]}{new[1:]}"
    if shape in ("assistant", "long"):
        said = f"{chance.choice(['', 'Quick update from my side. ', 'So. '])}{said} {chance.choice(CHATTER)}"
    yield said, "fact"
    yield chance.choice(ADVICE if shape in ("assistant", "long") else CHATTER), "other"


def _line(text: str, who: str, shape: str, chance: random.Random) -> list[str]:
    if shape == "notes":
        return [text.replace("\n", " "), ""]
    if shape == "people":
        return [f"- **{'Ina' if who != 'other' else 'Marlow'}:** {text}"]
    return [*f"**{'User' if who != 'other' else 'Assistant'}:** {text}".split("\n"), ""]


async def measure(shape: str, lexical: bool, show: bool) -> tuple[int, int, int]:
    """(newer first, both or either found, questions) of one shape."""
    with tempfile.TemporaryDirectory(prefix="smb-updates-") as place:
        kb, bank = Path(place) / "kb", Path(place) / "bank"
        kb.mkdir()
        updates = written(shape, kb, seed=sum(map(ord, shape)))
        await Bank.init(bank, git=False)
        newer = found = 0
        async with Bank.open(bank) as opened:
            await opened.ingest([kb], skip_embeddings=True)
            for update in updates:
                packet = await opened.recall(update.question, n=20, budget=100_000, lexical=lexical)
                ranks = {}
                for item in packet["items"]:
                    for c in item["citations"]:
                        for age, (path, line) in (("old", update.old), ("new", update.new)):
                            if c["path"].endswith(path) and c["line_start"] <= line <= c["line_end"]:
                                ranks.setdefault(age, item["rank"])
                found += bool(ranks)
                first = "new" in ranks and ranks["new"] < ranks.get("old", 99)
                newer += first
                if show and not first:
                    print(f"  {shape}: {update.question} {ranks}")
    return newer, found, len(updates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="name the questions whose older statement came first")
    parser.add_argument("--lexical", action="store_true")
    options = parser.parse_args()
    total = asked = 0
    for shape in ("people", "assistant", "notes", "long"):
        newer, found, count = asyncio.run(measure(shape, options.lexical, options.show))
        print(f"{shape:10} newer first {newer}/{count} = {newer / count:.2f}   either found {found}")
        total, asked = total + newer, asked + count
    print(f"{'all':10} newer first {total / asked:.2f}")


if __name__ == "__main__":
    main()
