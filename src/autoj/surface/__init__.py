"""What can be seen of a response without understanding it, and what people make of that."""

from autoj.surface.features import SURFACE_FEATURES, surface_features, surface_lead

__all__ = ["SURFACE_FEATURES", "surface_features", "surface_lead"]
