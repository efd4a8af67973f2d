"""The memory of QUEST's kernels."""

import numpy as np

from core.growth.kernels.inputs.row_by_row import LINE
from core.methods.quest.scratch import in_one_piece, tree_buffers


def test_lists_in_one_piece_do_not_touch():
    lists = in_one_piece([(3, np.int32), (0, np.float64), (9, np.float64), (2, np.uint64)])
    assert [(each.dtype, len(each)) for each in lists] == [("i4", 3), ("f8", 0), ("f8", 9), ("u8", 2)]
    starts = [each.ctypes.data - lists[0].ctypes.data for each in lists if len(each)]
    assert starts == [0, LINE, 3 * LINE]


def test_room_for_nodes_of_many_classes_is_small_at_first():
    assert len(tree_buffers(1000, 3).column) == 1000
    assert tree_buffers(50_000, 20_000).values.nbytes < 40_000_000
    assert len(tree_buffers(1, 2).column) == 64
