"""Critiques written by hand for rows of the planted errors, with what a reader finds in each."""

from __future__ import annotations

from typing import NamedTuple


class Expected(NamedTuple):
    row: str
    critique: str
    named: bool
    """True where a careful reader says that the critique names the planted error."""
    accuses: bool
    """True where it claims any error at all."""


TABLE = [
    # A changed number: 64 desks for 46.
    Expected("a-001", 'It says "64 desks", but the text has 46.', True, True),
    Expected("a-001", "The number of desks is wrong: 46, not 64.", True, True),
    Expected("a-001", 'It gives "64 desks". That is incorrect.', True, True),
    Expected("a-001", "The source says 46 desks.", True, True),
    Expected("a-001", 'It correctly says "64 desks" and is clear.', False, False),
    Expected("a-001", "It mentions 64 desks and the volunteers.", False, False),
    Expected("a-001", "The summary is concise and has no errors.", False, False),
    Expected("a-001", "The loan figures are wrong.", False, True),
    Expected("a-001", "The council paid £640,000, which is wrong.", False, True),
    Expected("a-001", "One of the figures is inaccurate.", False, True),
    Expected("a-001", "It rightly has 46 desks.", False, False),
    # A changed result.
    Expected("a-002", 'The answer "12:20" is wrong; it should be 12:10.', True, True),
    Expected("a-002", "09:40 plus 2.5 hours is 12:10.", True, True),
    Expected("a-002", "The working is right, but the time at the end is wrong.", False, True),
    Expected("a-002", "The train arrives at 12:20, and all steps are correct.", False, False),
    # Wrong code.
    Expected("a-003", "`len(distinct) > 0` lets a single value crash.", True, True),
    Expected("a-003", "With one value it raises an IndexError instead of None.", True, True),
    Expected("a-003", "The code is clean and returns the right value.", False, False),
    Expected("a-003", "The function is not efficient, as it sorts.", False, False),
    Expected("a-003", "It fails for lists with strings.", False, True),
    # A wrong fact: liver for pancreas.
    Expected("a-006", "Insulin is made by the pancreas, not by the liver.", True, True),
    Expected("a-006", 'It names the "liver". This is false.', True, True),
    Expected("a-006", "The pancreas produces insulin.", True, True),
    Expected("a-006", "It explains insulin well, and the liver is correctly named.", False, False),
    Expected("a-006", "It does not mention diabetes.", False, True),
    Expected("a-006", "The wrong organ is named.", False, True),
    # A wrong unit.
    Expected("a-011", '"400 °C" is impossible in a home oven.', True, True),
    Expected(
        "a-011", "400 is the temperature in Fahrenheit, but the user has Celsius.", True, True
    ),
    Expected("a-011", "The cooking time is not given.", False, True),
    Expected("a-011", "The advice is dangerous.", False, True),
    # An omission.
    Expected("a-021", "It leaves out Lin, who should book the hall.", True, True),
    Expected("a-021", "An action item is missing: the hall for the AGM.", True, True),
    Expected("a-021", "It omits an action item.", False, True),
    Expected("a-021", "It lists every action item with its owner.", False, False),
    # A changed name.
    Expected("a-031", "It was Mbeki who blamed the parked vans, not Ferris.", True, True),
    Expected("a-031", "It attributes Mbeki's words to Ferris, which is wrong.", True, True),
    Expected("a-031", "It does well to keep Mbeki and Ferris apart.", False, False),
    Expected("a-031", "The speakers are confused.", False, True),
    Expected("a-061", '"30 weeks" is not right.', True, True),
    Expected("a-061", "A pregnancy lasts 40 weeks.", True, True),
    Expected("a-061", "It gives a good overview without mistakes.", False, False),
    # A negation.
    Expected("a-101", 'It reverses the meaning: "almost everybody" for hardly anyone.', True, True),
    Expected("a-101", "The paraphrase says the opposite, which is a mistake.", True, True),
    Expected("a-101", "The paraphrase keeps the meaning faithfully.", False, False),
    # A contradiction.
    Expected("a-121", "The last sentence contradicts the list above it.", True, True),
    Expected(
        "a-121", "It ends with `async` is the right choice, although order matters.", True, True
    ),
    Expected("a-121", "It contrasts both attributes clearly.", False, False),
    Expected("a-141", "That line is the Equator, not the Tropic of Cancer.", True, True),
    Expected("a-141", "The latitude given is inaccurate.", False, True),
    Expected("a-151", "The parking permit is missing from the list.", True, True),
    Expected("a-151", "There should be four tasks, but it has only three.", True, True),
    Expected("a-151", "The format is right.", False, False),
    # A broken constraint.
    Expected("b-011", "It breaks the rule and uses the forbidden word.", True, True),
    Expected("b-011", 'The poem has "leaves" in it, which the user ruled out.', True, True),
    Expected("b-011", 'It uses the word "leaves", which violates the instruction.', True, True),
    Expected("b-031", "Kofi Adu is left out.", True, True),
    Expected("b-031", "All names are found.", False, False),
    Expected("b-041", "It calls a myth a proven fact, which is false.", True, True),
    Expected("b-041", "It is a myth.", True, True),
    Expected("b-051", "That describes photosynthesis, not respiration.", True, True),
    Expected("b-051", "The mitochondrion is explained accurately.", False, False),
    Expected("b-071", "Big Ben does not strike thirteen at midnight.", True, True),
    Expected("b-071", "The mood is good, but the details are vague.", False, False),
    Expected("b-091", "Nothing freezes at noon in the Sahara, so this is a mistake.", True, True),
    Expected("b-091", "The heat is described well.", False, False),
    # An invented source.
    Expected("b-121", 'It invents a "Green Yards" report.', True, True),
    Expected("b-121", "It adds outside evidence, although the user asked for none.", True, True),
    Expected("b-121", "It is more persuasive and follows the instruction.", False, False),
    Expected("b-141", 'A tomato is not a "root".', True, True),
    Expected("b-141", "Botanically it is a fruit.", True, True),
    Expected("b-141", "The answer is friendly and settles it.", False, False),
]

MISREAD = [
    # A denial without a word for an error: counting each "not" would accuse nearly every critique.
    Expected("b-011", "The rhymes are not aabb.", False, True),
    Expected("a-011", "The cooking time is too short.", False, True),
    # A paraphrase that holds none of the names.
    Expected("a-003", "A list of one element makes it blow up.", True, True),
    # Irony.
    Expected(
        "a-141", "It is a fine answer if the Tropic of Cancer has moved to Kenya.", True, True
    ),
]
"""Critiques that the rules are known to read otherwise than a reader does."""
