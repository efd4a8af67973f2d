"""`python -m bench.serving.mlserver_folder FOLDER PORT PORT PORT`, in MLServer's environment: what it is to serve."""

import json
import sys
from pathlib import Path
from typing import Any

import joblib
from sklearn.tree import DecisionTreeClassifier

from bench.serving.claims import DEPTH, MIN_LEAF, MODEL, encoded, trained_on


def main(folder: Path, ports: list[int]) -> None:
    """A tree of the encoded table, one process, and the three ports it listens on."""
    data = trained_on()
    tree = DecisionTreeClassifier(max_depth=DEPTH, min_samples_leaf=MIN_LEAF, random_state=0)
    joblib.dump(tree.fit(encoded(data), data.answers), folder / "model.joblib")
    model = {
        "name": MODEL,
        "implementation": "mlserver_sklearn.SKLearnModel",
        "parameters": {"uri": str(folder / "model.joblib")},
    }
    named_ports = dict(zip(("http_port", "grpc_port", "metrics_port"), ports, strict=True))
    write(folder / "model-settings.json", model)
    write(folder / "settings.json", {"host": "127.0.0.1", "parallel_workers": 0, "debug": False, **named_ports})


def write(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value))


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(port) for port in sys.argv[2:]])
