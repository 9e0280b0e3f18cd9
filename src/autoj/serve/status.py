"""The endpoints about the service itself: health, readiness, judges, figures."""

# No postponed annotations: FastAPI reads those of endpoints, whose types are imported when needed.
from typing import Any

from autoj.protocols import protocols_of
from autoj.serve.engine import Engine
from autoj.serve.service import Service


def add_status(app: Any, service: Service) -> None:
    """Adds the endpoints to an application."""
    from fastapi import Response

    @app.get("/healthz", tags=["service"])
    async def healthz() -> dict[str, str]:
        """Tell that the process answers."""
        return {"status": "ok"}

    @app.get("/readyz", tags=["service"], responses={503: {"description": "Not all are ready."}})
    async def readyz(response: Response) -> dict[str, Any]:
        """Tell whether all judges are ready."""
        states = {name: engine.state for name, engine in service.engines.items()}
        ready = all(state == "ready" for state in states.values())
        response.status_code = 200 if ready else 503
        return {"status": "ready" if ready else "not ready", "judges": states}

    @app.get("/v1/judges", tags=["judge"])
    async def judges() -> dict[str, list[dict[str, Any]]]:
        """List the judges of this service."""
        return {"judges": [_described(engine) for engine in service.engines.values()]}

    @app.get("/metrics", tags=["service"], response_class=Response)
    async def metrics() -> Response:
        """Give figures in the format of Prometheus."""
        return Response(service.metrics.text(), media_type=service.metrics.content_type)


def _described(engine: Engine) -> dict[str, Any]:
    card = engine.card
    return {
        "name": engine.name,
        "title": card.title,
        "backend": card.backend,
        "state": engine.state,
        "waiting": engine.n_waiting,
        "protocols": [
            {"name": protocol.name, "judges": protocol.subject} for protocol in protocols_of(card)
        ],
        "languages": list(card.languages),
        "licence": card.licence,
    }
