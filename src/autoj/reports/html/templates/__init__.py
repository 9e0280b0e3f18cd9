"""The template, the style sheet and the scripts of a report."""
