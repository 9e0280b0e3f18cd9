"""System level: models ranked by a judge's mean ratings."""
