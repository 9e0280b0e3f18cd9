"""From judgments to verdicts and from verdicts to verdicts: pure, without files or engines."""
