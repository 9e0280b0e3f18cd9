"""The embedded scenario classifier: queries to the 58 scenarios."""

from autoj.scenarios.classifier.base import ScenarioClassifier, ScenarioGuess
from autoj.scenarios.classifier.folder import SHIPPED, load_classifier

__all__ = ["SHIPPED", "ScenarioClassifier", "ScenarioGuess", "load_classifier"]
