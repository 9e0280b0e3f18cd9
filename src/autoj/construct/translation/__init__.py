"""Translating rows for a bilingual judge: the stage, its checks, and what is kept as it is."""
