"""Tests of reviews of guessed scenarios."""
