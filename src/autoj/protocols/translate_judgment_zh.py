"""`translate-judgment-zh`: a judgment into Chinese."""

from autoj.protocols.translate import Translate

PROTOCOL = Translate(name="translate-judgment-zh", language="zh", text="translate_judgment")
