"""`translate-judgment`: a judgment into English, with its verdict and its names of responses."""

from autoj.protocols.translate import Translate

PROTOCOL = Translate(name="translate-judgment", text="translate_judgment")
