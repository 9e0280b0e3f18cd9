"""The seam between records and notebooks, which ask each value for its HTML."""

from importlib import import_module


class InNotebook:
    """A value that a notebook shows as HTML, escaped as on the page of a report."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        # Records stand below the reports that draw them, which are imported when a notebook asks.
        drawn: str = import_module("autoj.reports.notebook").html_of(self)
        return drawn
