"""Encoding a record given in a query parameter."""

from collections.abc import Mapping

from core.records.records import EncodedRecords, Value
from core.tables.errors import Fault, RecordsDoNotFit
from core.tables.schema import Schema
from core.tables.suggestion import did_you_mean
from service.errors import InvalidParameter
from service.serving.loaded_models import LoadedModel
from service.usecases.predictions.predict import encode


def encoded_in_parameter(loaded: LoadedModel, record: Mapping[str, Value], parameter: str) -> EncodedRecords:
    """The record, encoded for a model; InvalidParameter if it does not fit."""
    try:
        return encode(loaded, records=[record], columns=None, ignore_unknown=False)
    except RecordsDoNotFit as error:
        faults = [_in_parameter(fault, loaded.model.attributes) for fault in error.faults]
        raise InvalidParameter(parameter, "the record does not fit this model", faults=faults) from error


def _in_parameter(fault: Fault, attributes: Schema) -> Fault:
    """A fault with its path inside the record; unknown names cannot be ignored here, so no hint suggests that."""
    _, _, *path = fault.path
    name = str(path[0])
    hint = fault.hint if name in attributes else did_you_mean(name, attributes.names) or "leave it out"
    return Fault(fault.detail, tuple(path), hint)
