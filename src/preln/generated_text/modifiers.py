"""Closed-class words and adjectives: determiners, pronouns, adverbs and conjunctions."""

from __future__ import annotations

from preln.generated_text.entries import Adjective, Determiner, Pronoun, TimeAdverbial

DEFINITE = Determiner("d", "definite", "the", "the")
INDEFINITE = Determiner("ein", "mixed", "a", "")
BARE = Determiner("", "bare", "", "")
NO = Determiner("kein", "mixed", "a", "any")
EVERY = Determiner("jed", "weak", "every", "every")
WHICH = Determiner("welch", "weak", "which", "which")
MY = Determiner("mein", "mixed", "my", "my")
OUR = Determiner("unser", "mixed", "our", "our")
THIS = Determiner("dies", "weak", "this", "these")
MANY = Determiner("viel", "strong", "many", "many")
SOME = Determiner("einig", "strong", "some", "some")
ALL = Determiner("all", "weak", "all", "all")

# Determiners of nouns that `nicht` rather than `kein` denies.
SPECIFIC = (DEFINITE, MY, OUR, THIS)

# `sie` and `ihr` have several readings as objects and are left out there, so that the German
# sentence determines the English one.
ICH = Pronoun("1s", "ich", "I", "mich", "mir", "mich", "me")
DU = Pronoun("2s", "du", "you", "dich", "dir", "dich", "you")
ER = Pronoun("3s", "er", "he", "ihn", "ihm", "sich", "him")
SIE = Pronoun("3s", "sie", "she", "", "ihr", "sich", "her")
WIR = Pronoun("1p", "wir", "we", "uns", "uns", "uns", "us")
SIE_PLURAL = Pronoun("3p", "sie", "they", "", "ihnen", "sich", "them")
PRONOUNS = (ICH, DU, ER, SIE, WIR, SIE_PLURAL)

OLD = Adjective("alt", "old", "älter", "older")
YOUNG = Adjective("jung", "young", "jünger", "younger")
NEW = Adjective("neu", "new")
BIG = Adjective("groß", "big", "größer", "bigger")
SMALL = Adjective("klein", "small", "kleiner", "smaller")
BEAUTIFUL = Adjective("schön", "beautiful", "schöner", "more beautiful")
EXPENSIVE = Adjective("teuer", "expensive", "teurer", "more expensive", stem="teur")
CHEAP = Adjective("billig", "cheap", "billiger", "cheaper")
HEAVY = Adjective("schwer", "heavy", "schwerer", "heavier")
RED = Adjective("rot", "red")
BLUE = Adjective("blau", "blue")
GREEN = Adjective("grün", "green")
BLACK = Adjective("schwarz", "black")
WHITE = Adjective("weiß", "white")
FRESH = Adjective("frisch", "fresh")
HOT = Adjective("heiß", "hot")
COLD = Adjective("kalt", "cold")
SWEET = Adjective("süß", "sweet")
LONG = Adjective("lang", "long", "länger", "longer")
HIGH = Adjective("hoch", "high", "höher", "higher", stem="hoh")
SHORT = Adjective("kurz", "short", "kürzer", "shorter")
INTERESTING = Adjective("interessant", "interesting", "interessanter", "more interesting")
BORING = Adjective("langweilig", "boring", "langweiliger", "more boring")
IMPORTANT = Adjective("wichtig", "important", "wichtiger", "more important")
DIFFICULT = Adjective("schwierig", "difficult", "schwieriger", "more difficult")
EASY = Adjective("einfach", "easy", "einfacher", "easier")
DARK = Adjective("dunkel", "dark", "dunkler", "darker", stem="dunkl")
DIRTY = Adjective("schmutzig", "dirty")
MODERN = Adjective("modern", "modern", "moderner", "more modern")
FAST = Adjective("schnell", "fast", "schneller", "faster")
HUNGRY = Adjective("hungrig", "hungry")
TIRED = Adjective("müde", "tired", stem="müd")

ADJECTIVES: dict[str, tuple[Adjective, ...]] = {
    "people": (
        OLD,
        YOUNG,
        TIRED,
        HUNGRY,
        Adjective("freundlich", "friendly", "freundlicher", "friendlier"),
        Adjective("klug", "clever", "klüger", "cleverer"),
        Adjective("reich", "rich", "reicher", "richer"),
        Adjective("stark", "strong", "stärker", "stronger"),
        Adjective("krank", "sick"),
        Adjective("glücklich", "happy", "glücklicher", "happier"),
        Adjective("traurig", "sad"),
        Adjective("berühmt", "famous", "berühmter", "more famous"),
    ),
    "animals": (OLD, YOUNG, BIG, SMALL, BLACK, WHITE, FAST, HUNGRY, TIRED),
    "texts": (NEW, LONG, SHORT, INTERESTING, BORING, IMPORTANT),
    "goods": (NEW, OLD, BIG, SMALL, BEAUTIFUL, EXPENSIVE, CHEAP, HEAVY, RED, BLACK),
    "clothes": (NEW, OLD, BEAUTIFUL, EXPENSIVE, CHEAP, RED, BLUE, GREEN, WHITE, DIRTY),
    "food": (FRESH, COLD, SWEET, BIG, SMALL, CHEAP),
    "groceries": (FRESH, CHEAP, EXPENSIVE),
    "drinks": (COLD, HOT, CHEAP, EXPENSIVE),
    "openable": (NEW, OLD, BIG, SMALL, HEAVY, GREEN),
    "devices": (NEW, OLD, BIG, SMALL, EXPENSIVE, CHEAP, MODERN),
    "buildings": (NEW, OLD, BIG, SMALL, BEAUTIFUL, MODERN),
    "rooms": (BIG, SMALL, DARK, DIRTY, COLD),
    "ideas": (NEW, IMPORTANT, DIFFICULT, EASY, INTERESTING),
    "events": (LONG, SHORT, INTERESTING, BORING, EXPENSIVE),
    "lessons": (LONG, SHORT, INTERESTING, BORING, EASY, DIFFICULT),
    "places": (BIG, SMALL, OLD, NEW, BEAUTIFUL),
}

TIMES = (
    TimeAdverbial("heute", "today", "any"),
    TimeAdverbial("am Abend", "in the evening", "any"),
    TimeAdverbial("am Nachmittag", "in the afternoon", "any"),
    TimeAdverbial("am Wochenende", "at the weekend", "any"),
    TimeAdverbial("im Sommer", "in summer", "any"),
    TimeAdverbial("im Winter", "in winter", "any"),
    TimeAdverbial("jetzt", "now", "present"),
    TimeAdverbial("jeden Tag", "every day", "present"),
    TimeAdverbial("jede Woche", "every week", "present"),
    TimeAdverbial("gestern", "yesterday", "past"),
    TimeAdverbial("letzte Woche", "last week", "past"),
    TimeAdverbial("letztes Jahr", "last year", "past"),
    TimeAdverbial("letzten Sommer", "last summer", "past"),
    TimeAdverbial("morgen", "tomorrow", "future"),
    TimeAdverbial("nächste Woche", "next week", "future"),
    TimeAdverbial("nächstes Jahr", "next year", "future"),
)
FREQUENCIES = (
    ("oft", "often"),
    ("immer", "always"),
    ("manchmal", "sometimes"),
    ("nie", "never"),
    ("selten", "rarely"),
)

# A reason may be in any tense and denied; what only dates or conditions something is asserted,
# and after the second kind of temporal subordinator it has not happened yet.
REASON_SUBORDINATORS = (("weil", "because"), ("obwohl", "although"))
DATING_SUBORDINATORS = (("während", "while"), ("bevor", "before"))
OPEN_SUBORDINATORS = (
    ("wenn", "when"),
    ("falls", "if"),
    ("sobald", "as soon as"),
    ("bis", "until"),
)
WHERE = ("wo", "where")
WH_ADVERBS = (("wann", "when"), ("warum", "why"))
