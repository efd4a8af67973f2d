"""The changes of constants that the net has to notice fit the kernels as they are."""

import pytest

from tests.checkouts import HERE
from tests.net.mutating import folders_of_kernels
from tests.net.mutations import MUTATIONS, Mutation
from tests.net.orders import ORDERS


def test_every_folder_of_kernels_has_a_change() -> None:
    assert {mutation.folder for mutation in MUTATIONS} == {str(folder) for folder in folders_of_kernels()}


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.folder)
def test_each_change_can_be_made(mutation: Mutation) -> None:
    assert (HERE / "core" / mutation.file).read_text("utf-8").count(mutation.old) == 1
    assert set(mutation.orders) <= {order.name for order in ORDERS}
