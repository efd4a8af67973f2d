"""The service under load, for a moment: every figure is one of the service and model that were meant."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bench.findings import Setting
from bench.serving import servers
from bench.serving.claims import CLASSES, asked, records_of
from bench.serving.kinds import claims_in_memory, cpu_in_turn
from bench.serving.requests import CONSTANT, PREDICT, records
from service.kernel_cache import KernelCache

QUICK = Setting(repeat=1, quick=True)


@pytest.fixture(scope="module")
def server(warm_kernels: KernelCache) -> Iterator[servers.Server]:
    assert warm_kernels.folder is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(servers, "NIWAKI", Path(sys.executable).parent)
        patch.setattr(servers, "KERNELS", warm_kernels.folder.parent)
        with claims_in_memory() as running:
            yield running


def test_the_model_is_a_tree_of_claims(server: servers.Server) -> None:
    data = asked().rows(0, 300)
    answered = server.call("POST", PREDICT, {"records": records_of(data)})
    labels = [CLASSES.index(each["label"]) for each in answered["predictions"]]
    assert np.mean(labels == data.answers) > np.mean(data.answers == 0)


def test_both_routes_are_measured_with_the_same_body(server: servers.Server) -> None:
    assert server.call("POST", CONSTANT, {"records": []}) == {"answer": "constant"}
    request = records(100)
    measured = cpu_in_turn(server, {"predict": request, "constant answer": request.to(CONSTANT)}, QUICK)
    constant, predict = measured["constant answer"].median, measured["predict"].median
    assert 0 < constant < predict
