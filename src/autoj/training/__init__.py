"""Training: a judge on TRL and PEFT, and the classifier of scenarios."""
