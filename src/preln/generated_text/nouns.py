"""Nouns by semantic group, places and given names, with their German genders and plurals."""

from __future__ import annotations

from preln.generated_text.entries import Gender, Noun, Place

M: Gender = "masculine"
F: Gender = "feminine"
N: Gender = "neuter"

MALE_RELATIVES = (
    Noun("Bruder", "Brüder", M, "brother"),
    Noun("Vater", "Väter", M, "father"),
    Noun("Sohn", "Söhne", M, "son"),
    Noun("Onkel", "Onkel", M, "uncle"),
    Noun("Freund", "Freunde", M, "friend"),
    Noun("Nachbar", "Nachbarn", M, "neighbor", oblique="Nachbarn"),
)
FEMALE_RELATIVES = (
    Noun("Schwester", "Schwestern", F, "sister"),
    Noun("Mutter", "Mütter", F, "mother"),
    Noun("Tochter", "Töchter", F, "daughter"),
    Noun("Tante", "Tanten", F, "aunt"),
    Noun("Freundin", "Freundinnen", F, "friend"),
    Noun("Großmutter", "Großmütter", F, "grandmother"),
)
MALE_PROFESSIONS = (
    Noun("Lehrer", "Lehrer", M, "teacher"),
    Noun("Arzt", "Ärzte", M, "doctor"),
    Noun("Student", "Studenten", M, "student", oblique="Studenten"),
    Noun("Koch", "Köche", M, "cook"),
    Noun("Bäcker", "Bäcker", M, "baker"),
    Noun("Künstler", "Künstler", M, "artist"),
    Noun("Bauer", "Bauern", M, "farmer", oblique="Bauern"),
    Noun("Ingenieur", "Ingenieure", M, "engineer"),
    Noun("Gärtner", "Gärtner", M, "gardener"),
)
FEMALE_PROFESSIONS = (
    Noun("Lehrerin", "Lehrerinnen", F, "teacher"),
    Noun("Ärztin", "Ärztinnen", F, "doctor"),
    Noun("Studentin", "Studentinnen", F, "student"),
    Noun("Sängerin", "Sängerinnen", F, "singer"),
    Noun("Richterin", "Richterinnen", F, "judge"),
    Noun("Künstlerin", "Künstlerinnen", F, "artist"),
)
OTHER_PEOPLE = (
    Noun("Kind", "Kinder", N, "child", "children"),
    Noun("Mann", "Männer", M, "man", "men"),
    Noun("Frau", "Frauen", F, "woman", "women"),
    Noun("Junge", "Jungen", M, "boy", oblique="Jungen"),
    Noun("Mädchen", "Mädchen", N, "girl"),
    Noun("Gast", "Gäste", M, "guest"),
    Noun("Kollege", "Kollegen", M, "colleague", oblique="Kollegen"),
)

NOUNS: dict[str, tuple[Noun, ...]] = {
    "people": (
        *MALE_RELATIVES,
        *FEMALE_RELATIVES,
        *MALE_PROFESSIONS,
        *FEMALE_PROFESSIONS,
        *OTHER_PEOPLE,
    ),
    "animals": (
        Noun("Hund", "Hunde", M, "dog"),
        Noun("Katze", "Katzen", F, "cat"),
        Noun("Pferd", "Pferde", N, "horse"),
        Noun("Vogel", "Vögel", M, "bird"),
        Noun("Kuh", "Kühe", F, "cow"),
        Noun("Maus", "Mäuse", F, "mouse", "mice"),
        Noun("Hase", "Hasen", M, "hare", oblique="Hasen"),
    ),
    "texts": (
        Noun("Buch", "Bücher", N, "book"),
        Noun("Zeitung", "Zeitungen", F, "newspaper"),
        Noun("Brief", "Briefe", M, "letter"),
        Noun("Roman", "Romane", M, "novel"),
        Noun("Bericht", "Berichte", M, "report"),
        Noun("Gedicht", "Gedichte", N, "poem"),
        Noun("Geschichte", "Geschichten", F, "story", "stories"),
    ),
    "goods": (
        Noun("Auto", "Autos", N, "car"),
        Noun("Fahrrad", "Fahrräder", N, "bicycle"),
        Noun("Tisch", "Tische", M, "table"),
        Noun("Stuhl", "Stühle", M, "chair"),
        Noun("Tasche", "Taschen", F, "bag"),
        Noun("Koffer", "Koffer", M, "suitcase"),
        Noun("Bild", "Bilder", N, "picture"),
        Noun("Messer", "Messer", N, "knife", "knives"),
        Noun("Schlüssel", "Schlüssel", M, "key"),
        Noun("Regenschirm", "Regenschirme", M, "umbrella"),
        Noun("Kamera", "Kameras", F, "camera"),
        Noun("Blume", "Blumen", F, "flower"),
    ),
    "clothes": (
        Noun("Hemd", "Hemden", N, "shirt"),
        Noun("Kleid", "Kleider", N, "dress", "dresses"),
        Noun("Mantel", "Mäntel", M, "coat"),
        Noun("Hut", "Hüte", M, "hat"),
        Noun("Jacke", "Jacken", F, "jacket"),
        Noun("Rock", "Röcke", M, "skirt"),
    ),
    "food": (
        Noun("Apfel", "Äpfel", M, "apple"),
        Noun("Birne", "Birnen", F, "pear"),
        Noun("Kuchen", "Kuchen", M, "cake"),
        Noun("Ei", "Eier", N, "egg"),
        Noun("Suppe", "Suppen", F, "soup"),
        Noun("Orange", "Orangen", F, "orange"),
        Noun("Tomate", "Tomaten", F, "tomato", "tomatoes"),
        Noun("Salat", "Salate", M, "salad"),
    ),
    "groceries": (
        Noun("Brot", "", N, "bread"),
        Noun("Käse", "", M, "cheese"),
        Noun("Fleisch", "", N, "meat"),
        Noun("Reis", "", M, "rice"),
        Noun("Butter", "", F, "butter"),
        Noun("Zucker", "", M, "sugar"),
    ),
    "drinks": (
        Noun("Wasser", "", N, "water"),
        Noun("Milch", "", F, "milk"),
        Noun("Tee", "", M, "tea"),
        Noun("Kaffee", "", M, "coffee"),
        Noun("Wein", "", M, "wine"),
        Noun("Bier", "", N, "beer"),
    ),
    "openable": (
        Noun("Tür", "Türen", F, "door"),
        Noun("Fenster", "Fenster", N, "window"),
        Noun("Schrank", "Schränke", M, "cupboard"),
        Noun("Kiste", "Kisten", F, "box", "boxes"),
    ),
    "devices": (
        Noun("Lampe", "Lampen", F, "lamp"),
        Noun("Fernseher", "Fernseher", M, "television"),
        Noun("Radio", "Radios", N, "radio"),
        Noun("Computer", "Computer", M, "computer"),
        Noun("Maschine", "Maschinen", F, "machine"),
    ),
    "buildings": (
        Noun("Haus", "Häuser", N, "house"),
        Noun("Kirche", "Kirchen", F, "church", "churches"),
        Noun("Brücke", "Brücken", F, "bridge"),
        Noun("Turm", "Türme", M, "tower"),
        Noun("Schloss", "Schlösser", N, "castle"),
        Noun("Fabrik", "Fabriken", F, "factory", "factories"),
    ),
    "rooms": (
        Noun("Zimmer", "Zimmer", N, "room"),
        Noun("Küche", "Küchen", F, "kitchen"),
        Noun("Keller", "Keller", M, "cellar"),
    ),
    "ideas": (
        Noun("Frage", "Fragen", F, "question"),
        Noun("Problem", "Probleme", N, "problem"),
        Noun("Plan", "Pläne", M, "plan"),
        Noun("Aufgabe", "Aufgaben", F, "task"),
        Noun("Regel", "Regeln", F, "rule"),
        Noun("Satz", "Sätze", M, "sentence"),
    ),
    "events": (
        Noun("Reise", "Reisen", F, "journey"),
        Noun("Film", "Filme", M, "film"),
        Noun("Konzert", "Konzerte", N, "concert"),
        Noun("Flug", "Flüge", M, "flight"),
    ),
    "lessons": (
        Noun("Kurs", "Kurse", M, "course"),
        Noun("Prüfung", "Prüfungen", F, "exam"),
        Noun("Wettbewerb", "Wettbewerbe", M, "competition"),
    ),
}

# Nouns of these groups can be mine or ours; of people, only relatives and friends.
OWNED_GROUPS = frozenset({"animals", "texts", "goods", "clothes", "openable", "devices", "rooms", "ideas", "events"})
RELATIVES = MALE_RELATIVES + FEMALE_RELATIVES

PLACES = (
    Place(Noun("Stadt", "Städte", F, "city", "cities"), "in", "in", "in", "accusative"),
    Place(Noun("Garten", "Gärten", M, "garden"), "in", "in", "in", "accusative"),
    Place(Noun("Park", "Parks", M, "park"), "in", "in", "in", "accusative"),
    Place(Noun("Wald", "Wälder", M, "forest"), "in", "in", "in", "accusative"),
    Place(Noun("Dorf", "Dörfer", N, "village"), "in", "in", "in", "accusative"),
    Place(Noun("Museum", "Museen", N, "museum"), "in", "in", "in", "accusative"),
    Place(Noun("Hotel", "Hotels", N, "hotel"), "in", "in", "in", "accusative"),
    Place(Noun("Büro", "Büros", N, "office"), "in", "in", "in", "accusative"),
    Place(Noun("Schule", "Schulen", F, "school"), "in", "in", "in", "accusative"),
    Place(Noun("Restaurant", "Restaurants", N, "restaurant"), "in", "in", "in", "accusative"),
    Place(Noun("Krankenhaus", "Krankenhäuser", N, "hospital"), "in", "in", "in", "accusative"),
    Place(Noun("Bahnhof", "Bahnhöfe", M, "station"), "an", "at", "zu", "dative"),
    Place(Noun("Flughafen", "Flughäfen", M, "airport"), "an", "at", "zu", "dative"),
    Place(Noun("Markt", "Märkte", M, "market"), "auf", "at", "auf", "accusative"),
    Place(Noun("See", "Seen", M, "lake"), "an", "at", "an", "accusative"),
)

MALE_NAMES = ("Paul", "Peter", "Thomas", "David", "Jonas")
FEMALE_NAMES = ("Anna", "Maria", "Julia", "Eva", "Laura")
