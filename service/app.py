"""The application: routes, middleware, and the resources that live as long as the application."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.types import Scope

from service.api.codings import DecodedBodies, EncodedAnswers
from service.api.docs import install_docs
from service.api.metrics import Metrics
from service.api.middleware import BodyLimit, RequestContext
from service.api.openapi import DocumentedApp
from service.api.problems import install_problems
from service.api.routes import DESCRIBED_BODIES, QUICK_ROUTES, ROUTERS, TAGS
from service.jobs.embedded import embedded_worker
from service.serving.loaded_models import LoadedModels
from service.settings import Settings
from service.store.artifacts import Artifacts
from service.store.transactions import Database
from service.version import VERSION

DESCRIPTION = """
Niwaki grows, prunes and serves decision trees that people can read.

1. Send a table: `POST /v1/datasets`, as JSON or CSV.
2. Train a model on it: `POST /v1/trainings`, then wait with `GET /v1/trainings/{id}?wait=20`.
3. Ask the model: `POST /v1/models/{model}/predict`; read its tree, its rules and how it was pruned.

Values may be missing everywhere, in training and in prediction.
Errors are `application/problem+json` (RFC 9457) and say where the mistake is and what would fit.
"""

# Turns off FastAPI's telemetry, which takes a tenth of a prediction's time just to find that nothing uses it. The
# service has `metrics` and `logs` instead.
NO_TELEMETRY: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False}


def create_app(settings: Settings | None = None) -> FastAPI:
    """The service as an ASGI application; settings come from the environment unless given."""
    settings = settings or Settings()
    app = DocumentedApp(
        title="Niwaki",
        version=VERSION,
        description=DESCRIPTION.strip(),
        openapi_tags=TAGS,
        servers=[{"url": "/", "description": "This service."}],
        described_bodies=DESCRIBED_BODIES,
        lifespan=_lifespan,
        telemetry=NO_TELEMETRY,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.settings = settings
    app.state.metrics = Metrics()
    install_problems(app)
    app.router.routes.extend(QUICK_ROUTES)
    install_docs(app)
    for router in ROUTERS:
        app.include_router(router)
    # The middleware added last is the outermost.
    app.add_middleware(EncodedAnswers)
    app.add_middleware(DecodedBodies, limit_of=lambda scope: _body_limit(scope, settings))
    app.add_middleware(BodyLimit, limit_of=lambda scope: _body_limit(scope, settings))
    app.add_middleware(RequestContext, metrics=app.state.metrics)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the resources that requests share, and close them in reverse order."""
    settings: Settings = app.state.settings
    async with AsyncExitStack() as stack:
        app.state.database = Database(settings)
        stack.push_async_callback(app.state.database.close)
        app.state.artifacts = Artifacts(settings.data_dir)
        app.state.models = LoadedModels(app.state.database, limit=settings.loaded_models)
        if settings.embedded_worker:
            await stack.enter_async_context(embedded_worker(settings))
        yield


def _body_limit(scope: Scope, settings: Settings) -> int:
    is_upload = scope["method"] == "POST" and scope["path"] == "/v1/datasets"
    return settings.max_dataset_bytes if is_upload else settings.max_body_bytes
