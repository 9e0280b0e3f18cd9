"""A person's review of guessed scenarios: which rows, the answers, and what follows from them."""
