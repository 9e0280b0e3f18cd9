"""Judgments as teachers write them, in many shapes, with what a reader takes from them.

Each row is the text, its decision, and the names of the factors that must come out; a text stands
for the reason where nothing can come out. All texts are our own.
"""

from __future__ import annotations

from autoj.records import Shown

END = "\n\nSo, the final decision is Response 1."
END_2 = "\n\nSo, the final decision is Response 2."

TEXTS: tuple[tuple[str, Shown, tuple[str, ...] | str], ...] = (
    # Lists with numbers
    ("1. **Accuracy**: Response 1 has the right year." + END, "1", ("Accuracy",)),
    ("1. Accuracy: Response 1 has the right year.\n2. Tone: Response 2 is curt." + END, "1",
     ("Accuracy", "Tone")),
    ("1) Accuracy: Response 1 is right.\n2) Length: Response 2 rambles." + END, "1",
     ("Accuracy", "Length")),
    ("(1) Accuracy: Response 1 is right.\n(2) Length: Response 2 rambles." + END, "1",
     ("Accuracy", "Length")),
    ("① Accuracy: Response 1 is right.\n② Length: Response 2 rambles." + END, "1",
     ("Accuracy", "Length")),
    ("1. Response 1 names the source.\n2. Response 2 does not." + END, "1", ("overall",)),
    ("1. **Depth** - Response 1 gives three reasons.\n2. **Style** – Response 2 is plain." + END,
     "1", ("Depth", "Style")),
    ("1. **Depth.** Response 1 gives three reasons." + END, "1", ("Depth",)),
    ("a) Depth: Response 1 gives reasons.\nb) Style: Response 2 is plain." + END, "1",
     ("Depth", "Style")),
    ("1. Depth:\n   - Response 1 gives three reasons.\n   - Response 2 gives one.\n"
     "2. Style:\n   - Response 2 is plain." + END, "1", ("Depth", "Style")),
    ("1. Depth\n\nResponse 1 gives three reasons." + END, "1", ("overall",)),
    # Bullets
    ("- Clarity: Response 1 is clear, Response 2 is not." + END, "1", ("Clarity",)),
    ("* Clarity: Response 1 is clear." + END, "1", ("Clarity",)),
    ("• Clarity: Response 1 is clear." + END, "1", ("Clarity",)),
    ("- **Clarity**: Response 1 is clear.\n- **Format**: Response 2 uses a table." + END, "1",
     ("Clarity", "Format")),
    ("- __Clarity__: Response 1 is clear." + END, "1", ("Clarity",)),
    ("- `Clarity`: Response 1 is clear." + END, "1", ("Clarity",)),
    ("- **Clarity:** Response 1 is clear." + END, "1", ("Clarity",)),
    ("- Clarity — Response 1 is clear." + END, "1", ("Clarity",)),
    ("- Response 1 is clear.\n- Response 2 is not." + END, "1", ("overall",)),
    ("- Clarity: Response 1 is clear\n  and short.\n- Tone: Response 2 is warm." + END, "1",
     ("Clarity", "Tone")),
    # Headings
    ("### Accuracy\nResponse 1 is right." + END, "1", ("Accuracy",)),
    ("## 1. Accuracy\n\nResponse 1 is right.\n\n## 2. Tone\n\nResponse 2 is warm." + END, "1",
     ("Accuracy", "Tone")),
    ("**Accuracy**\n\nResponse 1 is right.\n\n**Tone**\n\nResponse 2 is warm." + END, "1",
     ("Accuracy", "Tone")),
    ("Accuracy:\nResponse 1 is right; Response 2 is wrong." + END, "1", ("Accuracy",)),
    ("# Comparison\n\n- Tone: Response 1 is warm.\n\n# Other factors\n\n- Depth: Response 2 is "
     "shallow.\n\n# Final decision" + END, "1", ("Tone", "Depth")),
    ("**Criteria that distinguish the responses**\n\n1. Tone: Response 1 is warm." + END, "1",
     ("Tone",)),
    ("#### Response 1\n\nIt is clear.\n\n#### Response 2\n\nIt is long." + END, "1", ("overall",)),
    ("**Response 1:** clear and short.\n**Response 2:** long." + END, "1", ("overall",)),
    # Tables
    ("| Criterion | Response 1 | Response 2 |\n|---|---|---|\n| Accuracy | right | wrong |" + END,
     "1", ("Accuracy",)),
    ("| Criterion | Response 1 | Response 2 |\n| :-- | :-: | --: |\n| Tone | dry | warm |\n"
     "| Depth | deep | flat |" + END, "1", ("Tone", "Depth")),
    ("The table compares them.\n\n| | Response A | Response B |\n|-|-|-|\n| Length | short | long |"
     + END, "1", ("Length",)),
    ("| Criterion | Comparison |\n|---|---|\n| Tone | Response 1 is warm |" + END, "1", ("Tone",)),
    # JSON
    ('{"factors": [{"name": "tone", "explanation": "Response 1 is warm."}], "final_decision": '
     '"Response 1"}', "1", ("tone",)),
    ('```json\n{"tone": "Response 1 is warm.", "depth": "Response 2 is flat."}\n```' + END, "1",
     ("tone", "depth")),
    ('[{"criterion": "tone", "comparison": "Response 1 is warm."}]' + END, "1", ("tone",)),
    ('{"comparison": ["Response 1 is warm.", "Response 2 is flat."], "winner": "Response 1"}', "1",
     ("overall",)),
    ('{"tone": {"explanation": "Response 1 is warm."}} is my view.' + END, "1", ("tone",)),
    # Prose
    ("Response 1 answers the question. Response 2 does not." + END, "1", ("overall",)),
    ("Response 1 is accurate.\n\nResponse 2 has two errors." + END, "1", ("overall",)),
    ("In terms of depth, Response 1 explains each step while Response 2 only names them." + END,
     "1", ("overall",)),
    ("Accuracy: Response 1 is right. So, the final decision is Response 1.", "1", ("Accuracy",)),
    ("The first response is right, the second answer is wrong." + END, "1", ("overall",)),
    ("Assistant A is right. Assistant B is wrong." + END, "1", ("overall",)),
    ("Answer one is right; answer two is wrong." + END, "1", ("overall",)),
    # The decision in other places
    ("So, the final decision is Response 1.\n\n1. Tone: Response 1 is warm.", "1", ("Tone",)),
    ("**Final Decision:** Response 1\n\n- Tone: Response 1 is warm.", "1", ("Tone",)),
    ("- Tone: Response 1 is warm.\n\n3. So, the final decision is Response 1. It was close.", "1",
     ("Tone",)),
    ("- Tone: Response 1 is warm.\n\nSo, the final decision is **Response 1**.", "1", ("Tone",)),
    ("At first the final decision is Response 2.\n\n- Tone: Response 1 is warm." + END, "1",
     ("Tone",)),
    ("- Tone: Response 1 is warm.\n- Depth: Response 2 is deep.\n\nSo, the final decision is Tie.",
     "tie", ("Tone", "Depth")),
    # Table 18 itself
    ("1. The key factors to distinguish these two responses:\n\n- tone: Response 1 is warm.\n\n"
     "2. The final decision:" + END + " They are close.", "1", ("tone",)),
    # The teacher's own answer comes first
    ("[Own answer]\n2 + 2 is 4, as in Response 1.\n\n[Assessment]\n- Result: Response 2 says 5."
     + END, "1", ("Result",)),
    ("**[Own answer]**\nx\n\n**[Assessment]**\n1. Result: Response 2 says 5." + END, "1",
     ("Result",)),
    # What both have in common is left out
    ("- Tone: Both responses are polite.\n- Depth: Response 1 is deeper." + END, "1", ("Depth",)),
    ("- Tone: Response 1 and Response 2 are equally polite.\n- Depth: Response 1 is deeper." + END,
     "1", ("Depth",)),
    # Chinese
    ("1. 准确性：回应1正确，回应2错误。\n\n所以，最终决定是回应1。", "1", ("准确性",)),
    ("- 语气：第一个回答更友好。\n- 深度：第二个回答太浅。\n\n所以，最终决定是回应1。", "1",
     ("语气", "深度")),
    ("**准确性**：回答一是对的，而回答二是错的。\n\n最终决定：回应1", "1", ("准确性",)),
    ("回应1给出了三个理由，而回应2没有。\n\n所以，最终决定是回应1。", "1", ("整体",)),
    # Small models: the word "factor" in the place of a name, and each response in turn
    ("- factor: The first response names the dose, while the second only warns.\n- Response 1: "
     "Names the dose.\n- Response 2: Only warns." + END, "1", ("overall",)),
    ("- Factor: Tone of voice\n- Response 1: Curt.\n- Response 2: Warm.\n\n- Factor: Depth\n"
     "- Response 1: Two reasons.\n- Response 2: One." + END, "1", ("Tone of voice", "Depth")),
    ("- Factor 1: Sources\n  - Response 1: Names two\n  - Response 2: Names none\n- Factor 2: "
     "Order\n  - Response 2: By date" + END, "1", ("Sources", "Order")),
    ("- **Response 1**:\n  - It answers at once.\n\n- **Response 2**:\n  - It asks back." + END,
     "1", ("overall",)),
    ("**Response 1**\n- Clarity: plain words.\n- Depth: thin.\n\n**Response 2**\n- Clarity: "
     "jargon.\n- Depth: thorough." + END, "1", ("Clarity", "Depth")),
    ("- **Clarity**:\n  - Response 1 is plain\n  - Response 2 is full of jargon" + END, "1",
     ("Clarity",)),
    ("- Layout: Response 1: a table; Response 2: a table.\n- Depth: Response 2 is thin." + END, "1",
     ("Depth",)),
    ("- Tone: Response 1 is polite, while Response 2 is polite.\n- Depth: Response 2 is thin."
     + END, "1", ("Depth",)),
    ("- factor: Plain words\n- Response 1: Hard words are explained; none is left.\n- Response 2: "
     "Hard words are explained; none is left.\n- factor: Depth\n- Response 2: Only one cause."
     + END, "1", ("Depth",)),
    ("- factor: The first response is a list, while the second response is a list.\n- Response 1: "
     "A list.\n- Response 2: A list." + END, "1", "no factor tells the responses apart"),
    # The decision as the last item of a list, or in a paragraph of its own
    ("- Depth: Response 1 gives reasons.\n- So, the final decision is Response 1.", "1",
     ("Depth",)),
    ("- **Depth**: Response 1 gives reasons.\n- **So, the final decision is** Response 1.", "1",
     ("Depth",)),
    ("1. Depth: Response 1 gives reasons.\n2. So, the final decision is Response 1.", "1",
     ("Depth",)),
    ("- Depth: Response 1 gives reasons.\n\nSo, the final decision is:\n\n- **Response 1**", "1",
     ("Depth",)),
    # Nothing can be made of these
    ("So, the final decision is Tie.", "tie", "it gives no reason for its decision"),
    ("", "1", "it gives no reason for its decision"),
    ("- Tone: polite.\n- Depth: good." + END, "1", "no factor tells the responses apart"),
    ("I cannot judge this." + END, "1", "no factor tells the responses apart"),
    ("- Tone: Both responses are polite." + END, "1", "no factor tells the responses apart"),
    ("{}" + END, "1", "no factor tells the responses apart"),
    # Odd but honest
    ("- Tone: Response 1 says \"So: what?\", Response 2 is mild." + END, "1", ("Tone",)),
    ("- Code: Response 1 writes `x[1]: int`, Response 2 `x`." + END, "1", ("Code",)),
    ("- Steps: Response 1 lists 1. 2. 3. in order." + END_2, "2", ("Steps",)),
)  # fmt: skip
