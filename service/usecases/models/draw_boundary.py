"""Draw a model's answers over two numeric attributes, with its training rows."""

from collections.abc import Mapping

from core.drawing.boundary import boundary_svg, drawn_range
from core.drawing.regions import Plane, TooManyPieces
from core.prediction.record_walk import cells_of
from core.records.records import Value
from core.tables.suggestion import did_you_mean, quoted
from core.training.preparation import Prepared
from core.tree.model import Model
from service.errors import InvalidParameter
from service.serving.loaded_models import LoadedModel
from service.store.artifacts import Artifacts
from service.store.transactions import Database
from service.usecases.models.read_model import with_data
from service.usecases.models.record_in_parameter import encoded_in_parameter


async def draw_boundary(database: Database, artifacts: Artifacts, loaded: LoadedModel, step: int, plane: Plane) -> str:
    """The picture of the answers as of a step, as SVG."""

    def compute(prepared: Prepared) -> str:
        try:
            return boundary_svg(loaded.model, step, plane, prepared.train)
        except TooManyPieces as error:
            hint = "give the other attributes in given, or draw a smaller tree: step=leaves:50"
            raise InvalidParameter("step", str(error), hint=hint) from error

    return await with_data(database, artifacts, loaded, compute)


def plane_of(loaded: LoadedModel, x: str, y: str, given: Mapping[str, Value]) -> Plane:
    """The plane of two numeric attributes, with given values of others; InvalidParameter if they do not fit."""
    model = loaded.model
    across, up = (_numeric_column(model, parameter, name) for parameter, name in (("x", x), ("y", y)))
    if across == up:
        raise InvalidParameter("y", f"{quoted(y)} is x already", hint="name another numeric attribute")
    for name in (x, y):
        if name in given:
            raise InvalidParameter("given", f"{quoted(name)} is drawn, so it cannot be given", hint="leave it out")
    record = encoded_in_parameter(loaded, given, "given")
    (cells,) = cells_of(model.as_trained(record.table))
    ranges = [drawn_range(model.ranges[column] or (0.0, 1.0)) for column in (across, up)]
    lows, highs = zip(*ranges, strict=True)
    return Plane((across, up), lows, highs, cells)


def _numeric_column(model: Model, parameter: str, name: str) -> int:
    numeric = [attribute.name for attribute in model.attributes if attribute.is_numeric]
    if name not in numeric:
        detail = f"{quoted(name)} is not a numeric attribute of this model"
        known = f"numeric are {', '.join(numeric[:10])}" if numeric else "it has no numeric attribute"
        raise InvalidParameter(parameter, detail, hint=did_you_mean(name, numeric) or known)
    return model.attributes.column(name)
