"""`python -m bench.serving.keep_asking PORT FILE`: send a request again and again until standard input ends."""

import sys
import threading
from pathlib import Path

from bench.serving.client import Connection


def main(port: int, request: bytes) -> None:
    """One request in flight at any time; prints a line once the first is answered."""
    reader = threading.Thread(target=sys.stdin.read, daemon=True)
    reader.start()
    connection = Connection(port)
    connection.ask(request)
    print("asking", flush=True)
    while reader.is_alive():
        connection.ask(request)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]).read_bytes())
