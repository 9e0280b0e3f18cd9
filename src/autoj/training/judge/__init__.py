"""Training of a judge: recipes on TRL, PEFT and transformers, through the judge's own protocols.

A training sample is a case with a target. Its prompt is built by the same protocol and rendered by
the same wrapper as at inference, so the two cannot differ. The result is a judge's folder with its
card.
"""
