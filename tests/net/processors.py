"""The net on other processors, as far as one machine can be another: vector instructions that are not used.

NumPy, OpenBLAS and the C library choose among versions of their functions by what the processor can do, and may be told
to leave something out. Kernels are compiled for every processor of the architecture, or for this one alone.
"""

from dataclasses import dataclass, field

import numpy as np

# NumPy's own versions for newer processors, of those that this one can run.
FOUND: list[str] = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
WITH_512_BITS = [name for name in FOUND if "512" in name or name == "X86_V4"]


@dataclass(frozen=True)
class Processor:
    """Settings of the service and variables of its environment that make it run as on another processor."""

    name: str
    settings: dict[str, str] = field(default_factory=lambda: {"cpu": "baseline"})
    variables: dict[str, str] = field(default_factory=dict)


OLD = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(FOUND),
    "OPENBLAS_CORETYPE": "Prescott",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX2,-FMA,-FMA4",
}
PROCESSORS = (
    Processor("without AVX-512", variables={"NPY_DISABLE_CPU_FEATURES": " ".join(WITH_512_BITS)}),
    Processor("without AVX2, BLAS and libm of an old core", variables=OLD),
    Processor("compiled for this processor", {"cpu": "native"}),
)
