"""Merges several runs into one: their ledgers, their cases, and their folder."""
