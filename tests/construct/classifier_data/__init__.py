"""Tests of a scenario classifier's data."""
