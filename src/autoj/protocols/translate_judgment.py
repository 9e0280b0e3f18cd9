"""`translate-judgment`: a judgment into English; its verdict and its names of responses are kept."""

from autoj.protocols.translate import Translate

PROTOCOL = Translate(name="translate-judgment", text="translate_judgment")
