"""One file of routes for each resource; a new file has to be added to these lists only."""

from service.api.routes import (
    comparisons,
    datasets,
    health,
    models,
    predictions,
    problems,
    proximity,
    prunings,
    rules,
    trainings,
)
from service.api.schemas.datasets import CsvText, DatasetForm, DatasetUpload
from service.api.schemas.predictions import (
    ArrowStream,
    PredictionLines,
    PredictionRequest,
    PredictionTable,
    RecordLines,
    RecordTable,
)

ROUTERS = (
    datasets.router,
    trainings.router,
    models.router,
    rules.router,
    proximity.router,
    prunings.router,
    predictions.router,
    comparisons.router,
    health.router,
    problems.router,
)

# Matched before all others; for each a router has a documented route of the same path.
QUICK_ROUTES = (predictions.QUICK_ROUTE,)

TAGS = [
    {"name": "datasets", "description": "Tables to learn from. A dataset never changes."},
    {"name": "trainings", "description": "Background jobs that train models on datasets."},
    {
        "name": "models",
        "description": "One tree or many: nodes, rules, pruning, figures. A model never changes.",
    },
    {"name": "predictions", "description": "Records in, answers and reasons out."},
    {"name": "operation", "description": "Health of the service, its metrics, and explanations of its problems."},
]

# Bodies that routes read by themselves, so that FastAPI does not see them.
DESCRIBED_BODIES = (
    CsvText,
    DatasetForm,
    DatasetUpload,
    PredictionRequest,
    RecordLines,
    RecordTable,
    ArrowStream,
    PredictionLines,
    PredictionTable,
)
