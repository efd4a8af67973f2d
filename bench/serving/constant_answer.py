"""`python -m bench.serving.constant_answer`: the service as it is, with one route more, which answers a constant.

The route stands beside the predict route and passes all that it passes: sockets, middleware, routing, reading the body.
What a prediction costs above it is the prediction's own.
"""

import sys

from fastapi import Request, Response
from fastapi.routing import APIRoute

from service.api.routes.predictions import router
from service.logs import configure_logs
from service.server import run_server
from service.settings import Settings
from service.store.migrate import upgrade

CONSTANT = b'{"answer":"constant"}'


async def constant(request: Request) -> Response:
    """Read the body, answer the constant."""
    await request.body()
    return Response(CONSTANT, media_type="application/json")


def main() -> int:
    """Serve as `niwaki serve` does."""
    router.add_api_route("/{model}/constant", constant, methods=["POST"], route_class_override=APIRoute)
    settings = Settings()
    configure_logs(settings.log_level)
    upgrade(settings)
    return run_server(settings)


if __name__ == "__main__":
    sys.exit(main())
