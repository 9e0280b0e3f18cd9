"""The testbed: pairs that people label, and the three test sets made of them (section 5.1)."""
