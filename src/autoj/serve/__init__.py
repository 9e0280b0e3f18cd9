"""Judges and stored runs behind a port: the HTTP service, and the page of runs that grow."""
