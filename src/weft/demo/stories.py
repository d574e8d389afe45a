"""The texts of the demo's news. Each story is told three times, of other people and places."""

from typing import NamedTuple


class NewsStory(NamedTuple):
    slug: str
    title: str
    paragraphs: tuple[str, ...]


class Cast(NamedTuple):
    """What fills the gaps of a story."""

    person: str
    place: str
    number: int
    season: str


CASTS = {
    "town": (
        Cast("Odile Marrow", "Tanner's Quay", 14, "spring"),
        Cast("Bram Fennick", "Upper Lark Street", 23, "autumn"),
        Cast("Sunniva Holt", "the Old Granary", 9, "winter"),
    ),
    "science": (
        Cast("Dr Ines Calloway", "Gull Point", 31, "summer"),
        Cast("Dr Tobias Renn", "the Salt Marsh Station", 17, "winter"),
        Cast("Professor Amara Lisle", "Hollow Hill", 42, "spring"),
    ),
    "sport": (
        Cast("Petra Vance", "Quayside Rovers", 3, "autumn"),
        Cast("Callum Osei", "Larkhaven Harriers", 5, "summer"),
        Cast("Mirela Stroud", "Granary Wanderers", 7, "winter"),
    ),
}

AUTHORS = ("Hester Quill", "Jonas Birdwhistle", "Maud Okafor", "Leif Tarrant", "Priya Sandell")

STORIES: dict[str, tuple[NewsStory, ...]] = {
    "town": (
        NewsStory(
            "bridge",
            "Footbridge at {place} to reopen before {season}",
            (
                "The footbridge at {place} will carry walkers again after {number} months of "
                "repairs, the council confirmed on Monday. Its oak planks had been closed since "
                "a barge struck the middle pier.",
                "{person}, who has kept a tea stall beside the steps for most of a working "
                "life, said the quiet had been hard on trade. 'People will cross a river for a "
                "scone, but they will not swim for one,' was the verdict.",
                "Engineers replaced {number} of the beams and left the rest as they were. The "
                "lamps on the railing are copies of those that hung there a century ago.",
            ),
        ),
        NewsStory(
            "market",
            "{number} new stalls for the market at {place}",
            (
                "Saturday shoppers will find {number} more stalls at {place} from the first week "
                "of {season}. The market has had a waiting list for longer than anyone at the "
                "town hall can remember.",
                "Most of the newcomers sell what they grow or bake. One mends umbrellas while "
                "their owners wait, a trade that the town last saw two generations ago.",
                "'We measured the square three times and found room we did not know we had,' "
                "said {person}, who drew the new plan with chalk and a ball of string.",
            ),
        ),
        NewsStory(
            "clock",
            "Who wound the clock? A small mystery at {place}",
            (
                "The clock above {place} had stood at ten past four for {number} years. Last "
                "Tuesday it began to run, and nobody admits to having wound it.",
                "The only key hangs in the office of the harbour master, behind glass, and the "
                "glass is whole. The stairs to the tower were thick with dust on which there was "
                "not one footprint.",
                "{person} lives opposite and noticed it first. 'I was late for work that day, "
                "because for once the clock was right and I did not believe it.'",
            ),
        ),
        NewsStory(
            "library",
            "Library boat moors at {place} for the {season}",
            (
                "Readers near {place} no longer have to climb the hill: the library's barge will "
                "lie there all {season}, with {number} shelves below deck and deckchairs above.",
                "The boat lends books, maps and, on request, a pair of binoculars. Fines are "
                "paid in tins for the food bank.",
                "{person} borrowed the first book, a history of knots. It is due back in three "
                "weeks, weather permitting.",
            ),
        ),
        NewsStory(
            "orchard",
            "Neighbours plant {number} apple trees behind {place}",
            (
                "A strip of nettles behind {place} has become an orchard. On Sunday neighbours "
                "set {number} young apple trees there, each of a kind that was once grown within "
                "sight of the harbour.",
                "The land belongs to the railway, which has had no use for it since the branch "
                "line closed. It asks for a rent of one basket of apples each {season}.",
                "'I will be old when these bear well,' said {person}, treading down the last of "
                "the earth. 'That is the point of trees.'",
            ),
        ),
    ),
    "science": (
        NewsStory(
            "tides",
            "Old tide tables help to predict floods at {place}",
            (
                "A box of handwritten tide tables is changing how floods are predicted at "
                "{place}. The pages cover {number} years, and no storm in them was skipped.",
                "{person} and two students typed in every figure over one {season}. They then "
                "asked a model to guess each flood from the week before it.",
                "The model that had read the old tables was wrong half as often as the one that "
                "had not. The box itself had been used to prop open a door.",
            ),
        ),
        NewsStory(
            "moths",
            "{number} kinds of moth counted in one night at {place}",
            (
                "With a white sheet, a lamp and a flask of coffee, {person} counted {number} "
                "kinds of moth at {place} between dusk and dawn.",
                "Four of them had not been seen on this coast before. Mild nights in {season} "
                "may have brought them north, or nobody had stayed awake to look.",
                "The sheet is now part of the report: its stains show where the lamp drew the "
                "most visitors.",
            ),
        ),
        NewsStory(
            "glass",
            "A glass that mends its own scratches, made from sand of {place}",
            (
                "Scratch it, warm it in your hand, and the mark is gone: a glass made from the "
                "sand of {place} closes small wounds by itself.",
                "The secret is a trace of salt, said {person}, whose group tried {number} "
                "mixtures before one worked. It was the batch that had been spoiled by sea "
                "spray in {season}.",
                "Windows are a long way off. For now the glass is made in discs the size of a "
                "coin, and it is slightly green.",
            ),
        ),
        NewsStory(
            "radio",
            "Radio dish at {place} hears a star that blinks",
            (
                "Every {number} minutes, a faint star in the constellation of the Swan goes "
                "silent for a breath. The small dish at {place} was the first to hear it.",
                "{person} blamed the kettle at first, then the ferry, then the wiring. When all "
                "three were ruled out, only the sky was left.",
                "Larger dishes will listen this {season}. The likeliest answer is a dark "
                "companion that passes in front of the star, as regular as a lighthouse.",
            ),
        ),
        NewsStory(
            "eels",
            "Eels find their way home past {place}, and now we know how",
            (
                "Eels that are carried {number} miles inland from {place} swim back by the "
                "shortest way. A study says that they follow the taste of the water.",
                "In tanks with water from different streams, the young eels chose the right one "
                "nine times in ten. {person} changed the light, the depth and the hour, and the "
                "eels did not care.",
                "The finding could help to place eel ladders at weirs before the next {season}.",
            ),
        ),
    ),
    "sport": (
        NewsStory(
            "final",
            "{place} win the cup with {number} minutes to spare",
            (
                "For most of the final {place} were second best. Then {person} took the ball in "
                "the wrong half, kept it, and did not give it back until it was in the net.",
                "There were {number} minutes left, and nobody in blue could remember much of "
                "them afterwards.",
                "The cup, which has one handle since a celebration some years ago, will stand in "
                "the window of the bakery until {season}.",
            ),
        ),
        NewsStory(
            "rowing",
            "Crew of {place} row round the island in record time",
            (
                "Eight rowers of {place} went round Larkness in under two hours on Saturday and "
                "took {number} minutes off a record that was older than any of them.",
                "A flat sea helped, and so did {person} at the helm, who had drawn the currents "
                "on the back of one hand.",
                "The old record holders met them on the slipway with soup. They intend to try "
                "again themselves in {season}.",
            ),
        ),
        NewsStory(
            "chess",
            "{person} plays {number} games of chess at once and loses none",
            (
                "In the back room of the Anchor, {person} played {number} opponents at the same "
                "time, walking from board to board, and lost to nobody.",
                "The longest game ended as a draw by candlelight after the fuse had gone. It was "
                "against a girl of eleven who has since been asked to join {place}.",
                "A second evening is planned for {season}, with more boards and a new fuse.",
            ),
        ),
        NewsStory(
            "coach",
            "{place} name {person} as coach",
            (
                "After {number} weeks without one, {place} have a coach again. {person} signed "
                "for two years and took the first training in the rain an hour later.",
                "The new coach promises nothing but shorter meetings and longer passes.",
                "The team lies in the middle of the table, where it has been each {season} since "
                "the table was introduced.",
            ),
        ),
        NewsStory(
            "run",
            "Night run with {number} lanterns ends in a tie",
            (
                "The night run along the sea wall was lit by {number} lanterns and won by two "
                "people. {person} and a visitor from the next bay crossed the line so close "
                "together that the judges asked them to share.",
                "They tossed a coin for the ham and cut it in half when the coin fell into the "
                "harbour.",
                "{place} will hold the next run in {season}, and will bring a second ham.",
            ),
        ),
    ),
}

#: Each article ends with one of these.
CLOSINGS = {
    "town": (
        "The council meets on the second Thursday of the month. Its meetings are open to all, and "
        "the biscuits are said to have improved.",
        "Readers who know more are asked to write to the Gazette. Letters reach us fastest when "
        "they are pushed under the door.",
        "A map of the works hangs in the entrance of the town hall until the end of the month.",
        "The harbour bus stops nearby every twenty minutes, and every ten on market days.",
    ),
    "science": (
        "The measurements are open to everyone, together with the programs that read them.",
        "Two other groups have been asked to repeat the work before anything is built on it.",
        "A public talk with samples to touch follows in the lecture room above the fish market.",
        "The work was paid for by the county and by a sale of second-hand microscopes.",
    ),
    "sport": (
        "The next fixtures are chalked on the board by the ferry steps.",
        "Newcomers of any age are welcome to train on Wednesday evenings; boots can be borrowed.",
        "Photographs of the day can be seen at the Gazette's office during opening hours.",
        "The groundskeeper asks all visitors once more to keep their dogs off the pitch.",
    ),
}
