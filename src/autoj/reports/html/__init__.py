"""The report that a person opens: one HTML file, without network, from stored runs."""
