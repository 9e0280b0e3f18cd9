"""`translate-zh`: a text into Chinese."""

from autoj.protocols.translate import Translate

PROTOCOL = Translate(name="translate-zh", language="zh")
