"""Tests of constructing training data."""
