"""Verbs by valency, modals, and the two irregular verbs that the rules name."""

from __future__ import annotations

from preln.generated_text.entries import Modal, Verb

THINGS = ("goods", "clothes", "devices", "texts")
EDIBLE = ("food", "groceries")

SEIN = Verb(
    "sein",
    "gewesen",
    "be",
    "was",
    takes_sein=True,
    present=("bin", "bist", "ist", "sind", "sind"),
    preterite=("war", "warst", "war", "waren", "waren"),
)
HABEN = Verb(
    "haben",
    "gehabt",
    "have",
    "had",
    present=("habe", "hast", "hat", "haben", "haben"),
    preterite=("hatte", "hattest", "hatte", "hatten", "hatten"),
    objects=("goods", "animals", "clothes", "devices"),
    allows_place=False,
    is_voluntary=False,
)
WERDEN = Verb("werden", "geworden", "become", "became", second="wirst", third="wird",
              takes_sein=True)  # fmt: skip
WISSEN = Verb(
    "wissen",
    "gewusst",
    "know",
    "knew",
    present=("weiß", "weißt", "weiß", "wissen", "wissen"),
)
REGNEN = Verb("regnen", "geregnet", "rain", "rained", third="regnet")
SCHNEIEN = Verb("schneien", "geschneit", "snow", "snowed")
GEFALLEN = Verb("gefallen", "gefallen", "like", "liked", second="gefällst", third="gefällt")
KOMMEN = Verb("kommen", "gekommen", "come", "came", takes_sein=True,
              objects=("countries", "places"))  # fmt: skip
KOSTEN = Verb("kosten", "gekostet", "cost", "cost")
WIEGEN = Verb("wiegen", "gewogen", "weigh", "weighed")
DAUERN = Verb("dauern", "gedauert", "take", "took")
WOHNEN = Verb("wohnen", "gewohnt", "live", "lived")
ARBEITEN = Verb("arbeiten", "gearbeitet", "work", "worked")
WARTEN = Verb("warten", "gewartet", "wait", "waited")
LERNEN = Verb("lernen", "gelernt", "learn", "learned")
SPRECHEN = Verb("sprechen", "gesprochen", "speak", "spoke", second="sprichst", third="spricht")
VERSTEHEN = Verb("verstehen", "verstanden", "understand", "understood")
KAUFEN = Verb("kaufen", "gekauft", "buy", "bought", objects=(*THINGS, *EDIBLE, "drinks"))
BRAUCHEN = Verb("brauchen", "gebraucht", "need", "needed", objects=(*THINGS, *EDIBLE),
                is_voluntary=False)  # fmt: skip
BESTELLEN = Verb("bestellen", "bestellt", "order", "ordered", objects=("food", "drinks", "texts"))

INTRANSITIVE = (
    ARBEITEN,
    WARTEN,
    Verb("schlafen", "geschlafen", "sleep", "slept", second="schläfst", third="schläft"),
    Verb("lachen", "gelacht", "laugh", "laughed"),
    Verb("weinen", "geweint", "cry", "cried"),
    Verb("tanzen", "getanzt", "dance", "danced"),
    Verb("singen", "gesungen", "sing", "sang"),
    Verb("spielen", "gespielt", "play", "played"),
    Verb("schwimmen", "geschwommen", "swim", "swam", takes_sein=True, allows_place=False),
    Verb("frühstücken", "gefrühstückt", "have breakfast", "had breakfast"),
    Verb("stehen", "gestanden", "get up", "got up", prefix="auf", takes_sein=True,
         allows_place=False),
    Verb("schlafen", "geschlafen", "fall asleep", "fell asleep", prefix="ein",
         second="schläfst", third="schläft", takes_sein=True),
    Verb("wachen", "gewacht", "wake up", "woke up", prefix="auf", takes_sein=True),
    Verb("kommen", "gekommen", "arrive", "arrived", prefix="an", takes_sein=True),
    Verb("kommen", "gekommen", "come back", "came back", prefix="zurück", takes_sein=True,
         allows_place=False),
    Verb("gehen", "gegangen", "go away", "went away", prefix="weg", takes_sein=True,
         allows_place=False),
    Verb("kaufen", "gekauft", "go shopping", "went shopping", prefix="ein"),
)  # fmt: skip

TRANSITIVE = (
    HABEN,
    KAUFEN,
    BRAUCHEN,
    BESTELLEN,
    Verb("lesen", "gelesen", "read", "read", second="liest", third="liest", objects=("texts",)),
    Verb("schreiben", "geschrieben", "write", "wrote", objects=("texts",)),
    Verb("verkaufen", "verkauft", "sell", "sold", objects=("goods", "animals", "food")),
    Verb("sehen", "gesehen", "see", "saw", second="siehst", third="sieht",
         objects=("people", "animals", "buildings", "goods")),
    Verb("essen", "gegessen", "eat", "ate", second="isst", third="isst", objects=EDIBLE),
    Verb("trinken", "getrunken", "drink", "drank", objects=("drinks",)),
    Verb("suchen", "gesucht", "look for", "looked for", objects=("people", "animals", *THINGS)),
    Verb("finden", "gefunden", "find", "found", objects=("goods", "animals", "clothes")),
    Verb("öffnen", "geöffnet", "open", "opened", second="öffnest", third="öffnet",
         objects=("openable",)),
    Verb("schließen", "geschlossen", "close", "closed", objects=("openable",)),
    Verb("reparieren", "repariert", "repair", "repaired", objects=("devices", "openable")),
    Verb("malen", "gemalt", "paint", "painted", objects=("buildings", "animals", "people")),
    Verb("besuchen", "besucht", "visit", "visited", objects=("people", "buildings"),
         allows_place=False),
    Verb("kennen", "gekannt", "know", "knew", objects=("people", "texts", "buildings"),
         allows_place=False, is_voluntary=False),
    Verb("lieben", "geliebt", "love", "loved", objects=("people", "animals"),
         allows_place=False, is_voluntary=False),
    Verb("verlieren", "verloren", "lose", "lost", objects=("goods", "clothes"),
         is_voluntary=False),
    Verb("vergessen", "vergessen", "forget", "forgot", second="vergisst", third="vergisst",
         objects=("goods", "clothes", "ideas"), is_voluntary=False),
    Verb("verstehen", "verstanden", "understand", "understood", objects=("ideas", "texts"),
         allows_place=False),
    Verb("tragen", "getragen", "wear", "wore", second="trägst", third="trägt",
         objects=("clothes",)),
    Verb("treffen", "getroffen", "meet", "met", second="triffst", third="trifft",
         objects=("people",)),
    Verb("füttern", "gefüttert", "feed", "fed", objects=("animals",)),
    Verb("waschen", "gewaschen", "wash", "washed", second="wäschst", third="wäscht",
         objects=("clothes", "food")),
    Verb("bauen", "gebaut", "build", "built", objects=("buildings",), allows_place=False),
    Verb("machen", "gemacht", "open", "opened", prefix="auf", objects=("openable",)),
    Verb("machen", "gemacht", "close", "closed", prefix="zu", objects=("openable",)),
    Verb("rufen", "gerufen", "call", "called", prefix="an", objects=("people",)),
    Verb("laden", "geladen", "invite", "invited", prefix="ein", second="lädst", third="lädt",
         objects=("people",), allows_place=False),
    Verb("holen", "geholt", "pick up", "picked up", prefix="ab", objects=("people", "goods")),
    Verb("ziehen", "gezogen", "put on", "put on", prefix="an", objects=("clothes",)),
    Verb("ziehen", "gezogen", "take off", "took off", prefix="aus", objects=("clothes",)),
    Verb("schalten", "geschaltet", "turn on", "turned on", prefix="ein", objects=("devices",)),
    Verb("schalten", "geschaltet", "turn off", "turned off", prefix="aus",
         objects=("devices",)),
    Verb("bringen", "gebracht", "bring along", "brought along", prefix="mit",
         objects=("food", "drinks", "goods"), allows_place=False),
    Verb("geben", "gegeben", "give back", "gave back", prefix="zurück", second="gibst",
         third="gibt", objects=THINGS, allows_place=False),
    Verb("räumen", "geräumt", "tidy up", "tidied up", prefix="auf", objects=("rooms",),
         allows_place=False),
    Verb("werfen", "geworfen", "throw away", "threw away", prefix="weg", second="wirfst",
         third="wirft", objects=("food", "texts", "clothes"), allows_place=False),
    Verb("bereiten", "bereitet", "prepare", "prepared", prefix="vor", objects=("lessons",)),
)  # fmt: skip

DATIVE = (
    Verb("helfen", "geholfen", "help", "helped", second="hilfst", third="hilft"),
    Verb("danken", "gedankt", "thank", "thanked"),
    Verb("folgen", "gefolgt", "follow", "followed", takes_sein=True),
    Verb("antworten", "geantwortet", "answer", "answered"),
    Verb("vertrauen", "vertraut", "trust", "trusted"),
    Verb("gratulieren", "gratuliert", "congratulate", "congratulated"),
    Verb("hören", "gehört", "listen to", "listened to", prefix="zu"),
    Verb("widersprechen", "widersprochen", "contradict", "contradicted",
         second="widersprichst", third="widerspricht"),
)  # fmt: skip
GEHOEREN = Verb("gehören", "gehört", "belong to", "belonged to", objects=(*THINGS, "animals"))

DITRANSITIVE = (
    Verb("geben", "gegeben", "give", "gave", second="gibst", third="gibt", objects=THINGS,
         recipient="to"),
    Verb("schenken", "geschenkt", "give", "gave", objects=("goods", "clothes", "texts"),
         recipient="to"),
    Verb("zeigen", "gezeigt", "show", "showed", objects=(*THINGS, "buildings", "animals"),
         recipient="to"),
    Verb("schicken", "geschickt", "send", "sent", objects=("texts", "goods"), recipient="to"),
    Verb("bringen", "gebracht", "bring", "brought", objects=("food", "drinks", "goods"),
         recipient="to"),
    Verb("leihen", "geliehen", "lend", "lent", objects=("goods", "texts"), recipient="to"),
    Verb("erklären", "erklärt", "explain", "explained", objects=("ideas",), recipient="to"),
    Verb("empfehlen", "empfohlen", "recommend", "recommended", second="empfiehlst",
         third="empfiehlt", objects=("texts", "food"), recipient="to"),
    Verb("kaufen", "gekauft", "buy", "bought", objects=("goods", "clothes", "food"),
         recipient="for"),
    Verb("lesen", "gelesen", "read aloud", "read aloud", prefix="vor", second="liest",
         third="liest", objects=("texts",), recipient="to"),
)  # fmt: skip

PREPOSITIONAL = (
    Verb("warten", "gewartet", "wait for", "waited for", preposition="auf",
         objects=("people", "events")),
    Verb("denken", "gedacht", "think of", "thought of", preposition="an",
         objects=("people", "events", "ideas"), allows_place=False),
    Verb("sprechen", "gesprochen", "speak with", "spoke with", second="sprichst",
         third="spricht", preposition="mit", case="dative", objects=("people",)),
    Verb("spielen", "gespielt", "play with", "played with", preposition="mit", case="dative",
         objects=("people", "animals")),
    Verb("träumen", "geträumt", "dream of", "dreamed of", preposition="von", case="dative",
         objects=("people", "buildings", "events"), allows_place=False),
    Verb("fragen", "gefragt", "ask about", "asked about", preposition="nach", case="dative",
         objects=("people", "texts"), allows_place=False),
    Verb("nehmen", "genommen", "take part in", "took part in", prefix="teil",
         second="nimmst", third="nimmt", preposition="an", case="dative", objects=("lessons",),
         allows_place=False),
    Verb("freuen", "gefreut", "look forward to", "looked forward to", preposition="auf",
         objects=("events", "people"), reflexive=True, allows_place=False),
    Verb("erinnern", "erinnert", "remember", "remembered", preposition="an",
         objects=("people", "events", "ideas"), reflexive=True, allows_place=False),
    Verb("kümmern", "gekümmert", "take care of", "took care of", preposition="um",
         objects=("people", "animals"), reflexive=True, allows_place=False),
    Verb("beschweren", "beschwert", "complain about", "complained about", preposition="über",
         objects=("texts", "rooms", "lessons"), reflexive=True, allows_place=False),
)  # fmt: skip

MOTION = (
    KOMMEN,
    Verb("gehen", "gegangen", "go", "went", takes_sein=True, objects=("places",)),
    Verb("fahren", "gefahren", "drive", "drove", second="fährst", third="fährt",
         takes_sein=True, objects=("countries", "places")),
    Verb("reisen", "gereist", "travel", "traveled", takes_sein=True,
         objects=("countries",)),
    Verb("fliegen", "geflogen", "fly", "flew", takes_sein=True, objects=("countries",)),
    Verb("kehren", "gekehrt", "return", "returned", prefix="zurück", takes_sein=True,
         objects=("countries", "places")),
)  # fmt: skip

LOCATION = (
    WOHNEN,
    ARBEITEN,
    WARTEN,
    Verb("bleiben", "geblieben", "stay", "stayed", takes_sein=True),
    Verb("übernachten", "übernachtet", "spend the night", "spent the night"),
)
CONTINUING = (WOHNEN, ARBEITEN, WARTEN)

SAYING = (
    WISSEN,
    Verb("sagen", "gesagt", "say", "said"),
    Verb("glauben", "geglaubt", "believe", "believed"),
    Verb("hoffen", "gehofft", "hope", "hoped"),
    Verb("behaupten", "behauptet", "claim", "claimed"),
)
ASKING = (
    Verb("fragen", "gefragt", "ask", "asked"),
    Verb("erklären", "erklärt", "explain", "explained"),
    Verb("vergessen", "vergessen", "forget", "forgot", second="vergisst", third="vergisst"),
)
PLANNING = (
    Verb("versuchen", "versucht", "try", "tried"),
    Verb("vergessen", "vergessen", "forget", "forgot", second="vergisst", third="vergisst"),
    Verb("beginnen", "begonnen", "begin", "began"),
    Verb("planen", "geplant", "plan", "planned"),
    Verb("hoffen", "gehofft", "hope", "hoped"),
    Verb("versprechen", "versprochen", "promise", "promised", second="versprichst",
         third="verspricht"),
)  # fmt: skip

KOENNEN = Modal(("kann", "kannst", "kann", "können", "können"), auxiliary="can")
MOECHTEN = Modal(
    ("möchte", "möchtest", "möchte", "möchten", "möchten"),
    auxiliary="would",
    link="like to",
)
FUTURE = Modal(("werde", "wirst", "wird", "werden", "werden"), auxiliary="will", when="future")
MODALS = (
    KOENNEN,
    MOECHTEN,
    FUTURE,
    Modal(("muss", "musst", "muss", "müssen", "müssen"), verb="have", link="to"),
    Modal(("will", "willst", "will", "wollen", "wollen"), verb="want", link="to"),
    Modal(("soll", "sollst", "soll", "sollen", "sollen"), auxiliary="should"),
    Modal(("darf", "darfst", "darf", "dürfen", "dürfen"), auxiliary="may"),
)
PAST_MODALS = (
    Modal(("konnte", "konntest", "konnte", "konnten", "konnten"), auxiliary="could",
          when="past"),
    Modal(("musste", "musstest", "musste", "mussten", "mussten"), verb="have",
          verb_past="had", link="to", when="past"),
    Modal(("wollte", "wolltest", "wollte", "wollten", "wollten"), verb="want",
          verb_past="wanted", link="to", when="past"),
)  # fmt: skip
