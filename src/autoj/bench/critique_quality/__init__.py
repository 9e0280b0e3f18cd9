"""Critique quality: errors that were planted and named, clean twins that were accused."""
