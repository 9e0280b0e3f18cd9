"""The command line: `autoj judge`, `autoj rate`, `autoj show`, `autoj judges`."""

from autoj.cli.app import app, main

__all__ = ["app", "main"]
