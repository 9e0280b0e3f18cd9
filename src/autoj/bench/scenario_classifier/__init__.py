"""How well scenarios are named: by the embedded classifiers, and by language models."""
