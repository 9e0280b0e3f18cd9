"""Evaluation of scenario classification: by the embedded classifiers, and by language models."""
