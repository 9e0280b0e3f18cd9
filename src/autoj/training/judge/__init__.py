"""Train a judge: recipes on TRL, PEFT and transformers, through the judge's own protocols.

A training sample is a case with a target. Its prompt is built by the protocol and rendered by the
wrapper that the judge reads at inference, so that nothing can differ; what comes out is a judge's
folder, with its card.
"""
