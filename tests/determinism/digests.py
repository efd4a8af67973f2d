"""`python -m tests.determinism.digests <engine> [name, ...]`: the digest of each order's model and answers, as JSON."""

import hashlib
import json
import sys

from core import dump, train
from tests.determinism.orders import Order, orders


def digest(order: Order, engine: str) -> str:
    trained = train(order.data, order.config, engine=engine)
    return hashlib.sha256(dump(trained)).hexdigest()[:16]


def main(engine: str, names: set[str]) -> None:
    found = {order.name: digest(order, engine) for order in orders() if not names or order.name in names}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], set(sys.argv[2:]))
