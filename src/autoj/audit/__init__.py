"""The audit card: a judge's biases, measured with derived cases and explained in plain words."""
