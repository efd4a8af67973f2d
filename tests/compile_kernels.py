"""`python -m tests.compile_kernels`: compile all kernels for the tests beforehand, on two cores.

Otherwise the processes of a test run would wait for each other's compilers, or compile the same kernels. One process
begins with what most trainings need, which is half of the work, the other with what is needed last.
"""

import os
import subprocess
import sys

from service.kernel_cache import find_cache
from service.settings import Settings
from tests.conftest import KEPT

FROM_THE_END = """
from core.warm_up import every_kernel as kernels

kernels.run_prediction_kernels()
kernels.run_pruning_kernels()
kernels.run_permutation_kernels()
kernels.run_balancing_kernels()
kernels.run_multivariate_kernels()
kernels.run_quest_kernels()
kernels.run_chaid_kernels()
kernels.run_committee_kernels()
"""


def main() -> int:
    """Compile what is not compiled yet."""
    cache = find_cache(Settings(data_dir=KEPT))
    if cache.is_complete:
        return 0
    warm_up = [sys.executable, "-m", "service", "warm-up"]
    with subprocess.Popen([sys.executable, "-c", FROM_THE_END]) as helper:  # the environment names the folder
        done = subprocess.run(warm_up, env={**os.environ, "NIWAKI_DATA_DIR": str(KEPT)}, check=False)
        helper.kill()  # what it has not compiled, the other has
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
