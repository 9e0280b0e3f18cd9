"""The embedded scenario classifier: which of the 58 scenarios a query belongs to."""

from autoj.scenarios.classifier.base import ScenarioClassifier, ScenarioGuess
from autoj.scenarios.classifier.loading import SHIPPED, load_classifier

__all__ = ["SHIPPED", "ScenarioClassifier", "ScenarioGuess", "load_classifier"]
