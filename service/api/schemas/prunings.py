"""How pruning a model again is ordered."""

from typing import Annotated

from pydantic import ConfigDict, Field, model_validator

from core.tables.errors import Fault
from service.api.schemas.common import Body
from service.api.schemas.configuring.configuration import PruningOptions
from service.api.schemas.predictions import Step
from service.api.schemas.trainings import ModelName
from service.errors import InvalidBody
from service.usecases.trainings.prune_model import PruningOrder


class PruningRequest(Body):
    """A new version of a model: its tree pruned in another way (`pruning`), or served at another `step`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"pruning": {"kind": "cost_complexity", "alpha": 0.01}}, {"step": "leaves:7"}]}
    )

    pruning: Annotated[
        PruningOptions | None, Field(description="How to prune the full tree; runs in the background.")
    ] = None
    step: Annotated[
        Step | None,
        Field(
            description="Step of the model's own pruning history to serve: a number, `full`, `leaves:7` or "
            "`alpha:0.01`. The new version is created at once."
        ),
    ] = None
    validation_dataset_id: Annotated[
        str | None,
        Field(description="With `pruning`: a dataset used for validation in place of the model's validation part."),
    ] = None
    name: Annotated[
        ModelName | None,
        Field(description="Name under which the next version is created. Default: the model's own name."),
    ] = None

    @model_validator(mode="after")
    def _asks_for_one_thing(self) -> "PruningRequest":
        if (self.pruning is None) == (self.step is None):
            raise ValueError("send either pruning or step")
        return self

    def order(self) -> PruningOrder:
        """The request as a `PruningOrder`."""
        assert self.pruning is not None
        return PruningOrder(self.pruning.model_dump(exclude_none=True), self.validation_dataset_id, self.name)

    def chosen_step(self) -> str | int | None:
        """The step to serve; None if the tree is to be pruned again."""
        if self.step is not None and self.validation_dataset_id is not None:
            detail = "a step that is there needs no rows to validate by"
            raise InvalidBody(detail, Fault(detail, ("validation_dataset_id",), "leave it out, or send pruning"))
        return self.step
