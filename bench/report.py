"""The report: as text while it is measured, and as JSON."""

import json
import os
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.findings import Finding, Measured, Result, Setting

LIBRARIES = (
    "numpy",
    "numba",
    "scikit-learn",
    "xgboost-cpu",
    "lightgbm",
    "ydf",
    "onnxruntime",
    "fastapi",
    "pandas",
    "CHAID",
)
RESULTS = Path(__file__).parent / "results"


def as_text(result: Result) -> str:
    """One row: its title, then times with accuracy and nodes, then figures with floor and goal."""
    lines = [f"{result.name}: {result.title}"]
    if result.problem:
        lines.append(f"    {'error' if result.is_error else 'not measured'}: {result.problem}")
    lines += [f"    {measured_line(each)}" for each in result.measured]
    lines += [f"    {finding_line(each)}" for each in result.findings]
    return "\n".join(lines)


def measured_line(measured: Measured) -> str:
    """A library's median time, mean accuracy and mean number of nodes."""
    words = [f"{measured.label:34}", f"{seconds_text(measured.median):>10}"]
    if measured.mean_accuracy is not None:
        words.append(f"{'accuracy' if measured.is_of_classes else 'R²':8} {100 * measured.mean_accuracy:6.2f} %")
    if measured.mean_nodes is not None:
        words.append(f"{measured.mean_nodes:10,.0f} nodes")
    return "  ".join(words)


def finding_line(finding: Finding) -> str:
    """A figure, what it should be and whether it is."""
    sign = "<=" if finding.at_most else ">="
    limits = f"floor {sign} {finding.floor:g}, goal {sign} {finding.goal:g}"
    return f"{finding.what:46} {finding.value:7.2f}   {limits:30} {finding.verdict}"


def seconds_text(seconds: float) -> str:
    """Seconds with a unit that suits them."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def summary(results: list[Result]) -> str:
    """How many figures reach what."""
    verdicts = [finding.verdict for result in results for finding in result.findings]
    counts = [f"{verdicts.count(word)} {word}" for word in ("goal met", "floor met", "below")]
    unmeasured = [result.name for result in results if result.problem]
    return ", ".join(counts) + (f"; not measured: {', '.join(unmeasured)}" if unmeasured else "")


def write_json(results: list[Result], setting: Setting) -> Path:
    """Everything that was measured, with facts about the machine; where it was written."""
    now = datetime.now(UTC)
    content = {
        "measured_at": now.isoformat(timespec="seconds"),
        "setting": asdict(setting),
        "machine": machine(),
        "rows": [row_json(result) for result in results],
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{now:%Y-%m-%dT%H-%M-%S}.json"
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return path


def row_json(result: Result) -> dict[str, Any]:
    """A row with every single time, and the figures derived from them."""
    measured = [
        asdict(each) | {"median": each.median, "mean_accuracy": each.mean_accuracy, "mean_nodes": each.mean_nodes}
        for each in result.measured
    ]
    findings = [asdict(each) | {"verdict": each.verdict} for each in result.findings]
    return asdict(result) | {"measured": measured, "findings": findings}


def machine() -> dict[str, Any]:
    """What the times depend on."""
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "processor": models[0].split(":", 1)[1].strip() if models else platform.processor(),
        "cores": os.cpu_count(),
        "load_average": os.getloadavg(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in LIBRARIES},
    }
