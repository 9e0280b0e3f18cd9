"""Facts that plain questions ask for."""

from __future__ import annotations

CAPITALS: dict[str, str] = {
    "France": "Paris", "Germany": "Berlin", "Italy": "Rome", "Spain": "Madrid",
    "Portugal": "Lisbon", "Poland": "Warsaw", "Austria": "Vienna", "Greece": "Athens",
    "Norway": "Oslo", "Sweden": "Stockholm", "Finland": "Helsinki", "Denmark": "Copenhagen",
    "Ireland": "Dublin", "Hungary": "Budapest", "Romania": "Bucharest", "Bulgaria": "Sofia",
    "Croatia": "Zagreb", "Serbia": "Belgrade", "Ukraine": "Kyiv", "Turkey": "Ankara",
    "Egypt": "Cairo", "Kenya": "Nairobi", "Nigeria": "Abuja", "Ghana": "Accra", "Morocco": "Rabat",
    "Ethiopia": "Addis Ababa", "Tanzania": "Dodoma", "India": "New Delhi", "Pakistan": "Islamabad",
    "Bangladesh": "Dhaka", "Nepal": "Kathmandu", "Thailand": "Bangkok", "Vietnam": "Hanoi",
    "Malaysia": "Kuala Lumpur", "Indonesia": "Jakarta", "Philippines": "Manila", "Japan": "Tokyo",
    "China": "Beijing", "Mongolia": "Ulaanbaatar", "Iran": "Tehran", "Iraq": "Baghdad",
    "Jordan": "Amman", "Lebanon": "Beirut", "Argentina": "Buenos Aires", "Chile": "Santiago",
    "Peru": "Lima", "Colombia": "Bogotá", "Ecuador": "Quito", "Uruguay": "Montevideo",
    "Paraguay": "Asunción", "Venezuela": "Caracas", "Cuba": "Havana", "Mexico": "Mexico City",
    "Panama": "Panama City", "Iceland": "Reykjavik", "Estonia": "Tallinn", "Latvia": "Riga",
    "Lithuania": "Vilnius", "Belgium": "Brussels", "Slovakia": "Bratislava",
}  # fmt: skip
"""Capitals by country."""

SYMBOLS: dict[str, str] = {
    "hydrogen": "H", "helium": "He", "carbon": "C", "nitrogen": "N", "oxygen": "O", "sodium": "Na",
    "potassium": "K", "iron": "Fe", "copper": "Cu", "silver": "Ag", "gold": "Au", "lead": "Pb",
    "mercury": "Hg", "tin": "Sn", "zinc": "Zn", "nickel": "Ni", "calcium": "Ca", "chlorine": "Cl",
    "sulfur": "S", "phosphorus": "P", "magnesium": "Mg", "aluminium": "Al", "neon": "Ne",
    "tungsten": "W", "uranium": "U",
}  # fmt: skip
"""Chemical symbols by element."""

OPPOSITES: dict[str, str] = {
    "hot": "cold", "big": "small", "fast": "slow", "early": "late", "full": "empty",
    "heavy": "light", "old": "young", "rich": "poor", "wet": "dry", "deep": "shallow",
    "wide": "narrow", "brave": "cowardly", "generous": "stingy", "ancient": "modern",
    "arrive": "depart", "expand": "contract", "victory": "defeat", "permit": "forbid",
    "accept": "reject", "import": "export",
}  # fmt: skip
"""Opposites by word."""

PLURALS: dict[str, str] = {
    "child": "children", "mouse": "mice", "goose": "geese", "tooth": "teeth", "knife": "knives",
    "leaf": "leaves", "ox": "oxen", "sheep": "sheep", "crisis": "crises", "analysis": "analyses",
    "wolf": "wolves", "city": "cities", "box": "boxes", "hero": "heroes", "cactus": "cacti",
}  # fmt: skip
"""Irregular plurals by noun."""

PASTS: dict[str, str] = {
    "go": "went", "bring": "brought", "teach": "taught", "buy": "bought", "swim": "swam",
    "begin": "began", "choose": "chose", "drive": "drove", "fly": "flew", "know": "knew",
    "lead": "led", "lose": "lost", "ride": "rode", "sing": "sang", "speak": "spoke",
    "steal": "stole", "think": "thought", "wear": "wore", "write": "wrote", "freeze": "froze",
}  # fmt: skip
"""Irregular simple pasts by verb."""

SPANISH: dict[str, str] = {
    "dog": "perro", "cat": "gato", "house": "casa", "water": "agua", "book": "libro",
    "milk": "leche", "bread": "pan", "apple": "manzana", "school": "escuela", "friend": "amigo",
    "night": "noche", "morning": "mañana", "window": "ventana", "chair": "silla", "table": "mesa",
    "street": "calle", "child": "niño", "sun": "sol", "moon": "luna", "fish": "pescado",
}  # fmt: skip
"""Spanish words by English word."""

FRENCH: dict[str, str] = {
    "dog": "chien", "cat": "chat", "house": "maison", "water": "eau", "book": "livre",
    "milk": "lait", "bread": "pain", "apple": "pomme", "school": "école", "friend": "ami",
    "night": "nuit", "window": "fenêtre", "chair": "chaise", "street": "rue", "sun": "soleil",
    "moon": "lune", "cheese": "fromage", "tree": "arbre", "king": "roi", "bird": "oiseau",
}  # fmt: skip
"""French words by English word."""

WORDS = [
    "strawberry", "banana", "mississippi", "committee", "bookkeeper", "elephant", "umbrella",
    "refrigerator", "parallel", "chocolate", "butterfly", "mathematics", "raspberry",
    "accommodation", "necessary", "tomorrow", "millennium", "occurrence", "balloon", "coffee",
]  # fmt: skip
"""Words whose letters are counted."""

UNITS = [
    ("kilometers", "meters", 1000),
    ("hours", "minutes", 60),
    ("minutes", "seconds", 60),
    ("days", "hours", 24),
    ("weeks", "days", 7),
    ("kilograms", "grams", 1000),
    ("feet", "inches", 12),
    ("yards", "feet", 3),
    ("liters", "milliliters", 1000),
    ("dozen eggs", "eggs", 12),
    ("meters", "centimeters", 100),
    ("tonnes", "kilograms", 1000),
    ("years", "months", 12),
    ("decades", "years", 10),
    ("gigabytes (decimal)", "megabytes", 1000),
]
"""(larger unit, smaller unit, smaller ones in a larger one)"""

LEGS: dict[str, int] = {
    "spider": 8, "ant": 6, "dog": 4, "chicken": 2, "bee": 6, "horse": 4, "octopus": 0, "beetle": 6,
    "lobster": 10, "penguin": 2,
}  # fmt: skip
"""Numbers of legs by animal."""

FACTS: list[tuple[str, str, list[str]]] = [
    ("What is the largest planet in the solar system?", "Jupiter", ["Saturn", "Earth", "Neptune"]),
    ("which planet is closest to the sun", "Mercury", ["Venus", "Mars", "Earth"]),
    (
        "What gas do plants absorb for photosynthesis?",
        "carbon dioxide",
        ["oxygen", "nitrogen", "hydrogen"],
    ),
    (
        "How many continents are there, by the usual seven-continent count?",
        "seven",
        ["five", "eight", "nine"],
    ),
    ("Who wrote Hamlet?", "William Shakespeare", ["Charles Dickens", "Jane Austen", "John Milton"]),
    ("who painted the mona lisa", "Leonardo da Vinci", ["Michelangelo", "Raphael", "Claude Monet"]),
    ("In which year did World War II end?", "1945", ["1939", "1948", "1918"]),
    (
        "What is the boiling point of water at sea level in Celsius?",
        "100 °C",
        ["90 °C", "212 °C", "120 °C"],
    ),
    ("What is the chemical formula of water?", "H2O", ["CO2", "H2O2", "NaCl"]),
    ("How many sides does a hexagon have?", "six", ["five", "seven", "eight"]),
    (
        "Which ocean is the largest?",
        "the Pacific Ocean",
        ["the Atlantic Ocean", "the Indian Ocean", "the Arctic Ocean"],
    ),
    (
        "what organ pumps blood through the body",
        "the heart",
        ["the liver", "the lungs", "the kidneys"],
    ),
    ("How many days are there in a leap year?", "366", ["365", "364", "367"]),
    (
        "Which language is spoken by most people in Brazil?",
        "Portuguese",
        ["Spanish", "French", "English"],
    ),
    ("What is the freezing point of water in Fahrenheit?", "32 °F", ["0 °F", "100 °F", "23 °F"]),
    (
        "Who developed the theory of general relativity?",
        "Albert Einstein",
        ["Isaac Newton", "Niels Bohr", "Galileo Galilei"],
    ),
    ("What is the square root of 144?", "12", ["14", "11", "72"]),
    ("Which metal is liquid at room temperature?", "mercury", ["iron", "aluminium", "copper"]),
    (
        "how many players of one team are on the field in soccer",
        "eleven",
        ["nine", "ten", "twelve"],
    ),
    (
        "What is the tallest mountain above sea level?",
        "Mount Everest",
        ["K2", "Kilimanjaro", "Mont Blanc"],
    ),
    (
        "Which animal is the largest mammal?",
        "the blue whale",
        ["the African elephant", "the giraffe", "the hippopotamus"],
    ),
    (
        "At what temperature scale does absolute zero equal 0?",
        "Kelvin",
        ["Celsius", "Fahrenheit", "Réaumur"],
    ),
    ("What is the currency of Japan?", "the yen", ["the yuan", "the won", "the dollar"]),
    (
        "Which vitamin does the skin make in sunlight?",
        "vitamin D",
        ["vitamin C", "vitamin A", "vitamin K"],
    ),
    ("How many strings does a standard violin have?", "four", ["five", "six", "seven"]),
    (
        "which blood cells fight infections",
        "white blood cells",
        ["red blood cells", "platelets", "nerve cells"],
    ),
    ("What is the hardest natural mineral?", "diamond", ["quartz", "topaz", "gypsum"]),
    (
        "Who was the first person to walk on the moon?",
        "Neil Armstrong",
        ["Buzz Aldrin", "Yuri Gagarin", "John Glenn"],
    ),
    (
        "In which direction does the sun rise?",
        "in the east",
        ["in the west", "in the north", "in the south"],
    ),
    (
        "Is a tomato, botanically speaking, a fruit or a vegetable?",
        "a fruit",
        ["a vegetable", "a root", "a grain"],
    ),
]
"""(question, right answer, wrong answers)"""
