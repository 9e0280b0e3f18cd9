"""The page that a service shows."""
