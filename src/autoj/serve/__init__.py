"""The service: judges over HTTP, and pages in a browser."""
