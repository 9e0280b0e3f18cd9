"""The page's HTML and script."""
