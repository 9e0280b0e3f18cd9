"""Several runs as one: their ledgers, their cases, and the folder that takes both."""
