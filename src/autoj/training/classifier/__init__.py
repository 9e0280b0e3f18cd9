"""Training of a scenario classifier on queries whose scenarios are known."""
