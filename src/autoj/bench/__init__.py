"""Meta-evaluations: how good a judge is, from stored verdicts or published predictions."""
