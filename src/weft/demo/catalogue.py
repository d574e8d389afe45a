"""The books that the demo's shop sells: name, author, price in pence, and what it is about."""

from typing import NamedTuple


class Book(NamedTuple):
    name: str
    author: str
    price_pence: int
    hook: str


CATEGORIES = {
    "novels": "Novels",
    "mysteries": "Mysteries",
    "nature": "Nature",
    "crafts": "Crafts",
}

#: How the description of a book goes on, by category.
PRAISE = {
    "novels": (
        "A slow, generous story for long evenings.",
        "The last chapter sends you straight back to the first.",
    ),
    "mysteries": (
        "All the clues are in plain sight, and you will miss them.",
        "The third case of a series that can be read in any order.",
    ),
    "nature": (
        "With drawings by the author and a map to fold out.",
        "Small enough for a coat pocket, and washable.",
    ),
    "crafts": (
        "Every step is shown, including the ones that go wrong.",
        "All you need for the first ten projects fits into a shoebox.",
    ),
}

BOOKS: dict[str, tuple[Book, ...]] = {
    "novels": (
        Book(
            "The Ferryman's Ledger",
            "Ada Thornbury",
            1250,
            "A ferryman writes down every "
            "passenger for forty years, until one of them asks to be struck out.",
        ),
        Book(
            "Salt on the Stairs",
            "Kofi Lindqvist",
            1399,
            "Three sisters inherit a lighthouse and the quarrel that came with it.",
        ),
        Book(
            "A House with Two Norths",
            "Marguerite Ashe",
            1100,
            "A surveyor finds that his compass is right everywhere but at home.",
        ),
        Book(
            "The Year of Small Boats",
            "Rafael Dunmore",
            1575,
            "A fishing village decides to leave, one family and one tide at a time.",
        ),
        Book(
            "Letters to the Weather",
            "Iris Okonedo",
            999,
            "A widow complains to the forecast office, and somebody answers.",
        ),
        Book(
            "Bread Before Morning",
            "Samuel Trevane",
            1225,
            "Two bakers share one oven and never meet, except in what they leave for each other.",
        ),
        Book(
            "The Cartographer's Daughter's Dog",
            "Wilhelmina Frost",
            1450,
            "An expedition is told by the only member who never got lost.",
        ),
        Book(
            "Half a Piano",
            "Leopold Nakamura",
            1310,
            "A pianist learns to play what is left of an instrument, and of a marriage.",
        ),
        Book(
            "What the Tide Owes",
            "Brigid Salloway",
            1190,
            "A debt is paid back in driftwood, with interest.",
        ),
        Book(
            "Evenings at the Anchor",
            "Tomas Verrill",
            1080,
            "Eleven regulars tell the same story, and only one of them was there.",
        ),
    ),
    "mysteries": (
        Book(
            "Death of a Beekeeper's Rival",
            "Constance Pym",
            899,
            "Somebody has been stealing queens, and now there is a body among the hives.",
        ),
        Book(
            "The Locked Allotment",
            "Desmond Harrow",
            950,
            "A shed, bolted from within, and a prize marrow that nobody planted.",
        ),
        Book(
            "Inspector Lune Takes the Tram",
            "Yvette Carrow",
            1025,
            "Every passenger on the last tram has an alibi, and it is the same one.",
        ),
        Book(
            "Nine Umbrellas",
            "Percival Stroud",
            875,
            "Eight people leave the club in the rain. The ninth umbrella stays in the stand.",
        ),
        Book(
            "The Silent Auction",
            "Noor Whitcombe",
            1150,
            "A painting is sold twice in one evening and disappears three times.",
        ),
        Book(
            "Murder in the Margins",
            "Edith Vasquez",
            990,
            "A proofreader finds a confession in the footnotes of a cookery book.",
        ),
        Book(
            "The Tide Table Murders",
            "Gregor Maine",
            1075,
            "The killer knows the harbour to the minute, and so does the coroner.",
        ),
        Book(
            "A Coffin for the Piano Tuner",
            "Lucille Brandt",
            925,
            "He was deaf in one ear and had heard too much with the other.",
        ),
        Book(
            "Chalk Outline",
            "Ravi Penhallow",
            1199,
            "A street artist draws a crime a day before it happens.",
        ),
        Book(
            "The Widow's Gambit",
            "Olga Sinclair",
            1040,
            "A chess problem in the newspaper is solved by post, move by deadly move.",
        ),
    ),
    "nature": (
        Book(
            "Moths of a Northern Coast",
            "Ines Calloway",
            2150,
            "Two hundred moths, where to find them, and how to stay awake until they come.",
        ),
        Book(
            "The Patient Heron",
            "Gideon Marsh",
            1650,
            "One bird, one pond and one year of watching both.",
        ),
        Book(
            "Walking the Sea Wall",
            "Harriet Lowe",
            1295,
            "Twelve walks that begin and end at a kettle.",
        ),
        Book(
            "A Field Guide to Puddles",
            "Bertil Swann",
            975,
            "What lives in them, what drinks from them, and where they go.",
        ),
        Book(
            "Lichens for the Impatient",
            "Ottoline Grey",
            1420,
            "The slowest neighbours that you have, introduced quickly.",
        ),
        Book(
            "The Eel Road",
            "Tobias Renn",
            1780,
            "Three thousand miles with an animal that does not want to be followed.",
        ),
        Book(
            "Hedgerow Almanac",
            "Fenella Croft",
            1325,
            "What to look for between two fields in every week of the year.",
        ),
        Book(
            "Clouds over Larkness",
            "Stellan Moor",
            1890,
            "A meteorologist's sketchbook, with the forecasts that failed.",
        ),
        Book(
            "Night Sounds",
            "Carys Bellamy",
            1510,
            "Owls, foxes, gates: learning to tell what is out there by ear.",
        ),
        Book(
            "The Oak That Stayed",
            "Emmanuel Roscoe",
            1605,
            "Eight hundred years in the life of one tree and its tenants.",
        ),
    ),
    "crafts": (
        Book(
            "Warp and Weft",
            "Solveig Arden",
            1995,
            "Weaving from the first knot to the first blanket, on a loom that you build yourself.",
        ),
        Book(
            "Knots That Hold",
            "Barnaby Keel",
            1150,
            "Fifty knots for boats, parcels and arguments about which knot is best.",
        ),
        Book(
            "Mending Nearly Everything",
            "Philippa Dray",
            1475,
            "Socks, cups, chairs and bicycles, and when to stop.",
        ),
        Book(
            "The Slow Loaf",
            "Anton Griesbach",
            1699,
            "Sourdough for people who have other things to do.",
        ),
        Book(
            "Paper Boats and Better Ones",
            "Mei-Lin Archer",
            890,
            "Folding for all ages, tested on a real pond.",
        ),
        Book(
            "A Year of Ink",
            "Cornelius Vane",
            1360,
            "Making ink from oak galls, walnuts, rust and patience.",
        ),
        Book(
            "Carving a Spoon",
            "Astrid Holm",
            1045,
            "One knife, one branch, one spoon. Then another spoon.",
        ),
        Book(
            "Bind It Yourself",
            "Roderick Paige",
            1580,
            "Bookbinding at the kitchen table, without a press.",
        ),
        Book(
            "Natural Dyes of the Shore",
            "Morwenna Tye",
            1725,
            "Colours from weed, whelk and iron, with recipes that work in hard water.",
        ),
        Book(
            "The Umbrella Mender",
            "Jasper Undine",
            1210,
            "A lost trade, written down by its last master and its newest apprentice.",
        ),
    ),
}
