"""The table of claims is the same for every server, and every request is about the same records."""

import json
from pathlib import Path

import joblib
import numpy as np
import pyarrow as pa

from bench.serving.claims import CATEGORIES, DEPTH, NUMBERS, asked, columns_of, encoded, records_of, trained_on
from bench.serving.mlserver_folder import main as make_folder
from bench.serving.requests import CONSTANT, arrow, columns, open_inference, records


def test_claims_have_six_numbers_four_categories_and_two_classes() -> None:
    data = trained_on()
    assert data.numbers.shape == (50_000, len(NUMBERS)) == (50_000, 6)
    assert tuple(data.codes.max(axis=0) + 1) == tuple(map(len, CATEGORIES.values())) == (12, 5, 3, 16)
    assert 0.2 < data.answers.mean() < 0.4


def test_every_request_is_about_the_same_records() -> None:
    first = asked().rows(0, 20)
    sent = records_of(first)
    assert json.loads(records(20).bodies[0]) == {"records": sent}
    assert json.loads(columns(20).bodies[0])["columns"] == columns_of(first)
    assert pa.ipc.open_stream(arrow(20).bodies[0]).read_all().to_pylist() == sent
    (tensor,) = json.loads(open_inference(20).bodies[0])["inputs"]
    places = {name: {word: place for place, word in enumerate(words)} for name, words in CATEGORIES.items()}
    rows = [[places[name][value] if name in places else value for name, value in record.items()] for record in sent]
    assert np.reshape(tensor["data"], tensor["shape"]).tolist() == rows == encoded(first).tolist()


def test_requests_differ_and_say_what_they_carry() -> None:
    requests = records(1, explain=True).to(CONSTANT)
    assert len(set(requests.bodies)) == 100
    sent = [next(requests.data) for _ in range(101)]
    assert len(set(sent)) == 100
    head, _, body = sent[-1].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/models/claims/constant HTTP/1.1\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    assert json.loads(body)["explain"] is True


def test_mlserver_gets_a_tree_of_the_same_table(tmp_path: Path) -> None:
    make_folder(tmp_path, [1, 2, 3])
    tree, data = joblib.load(tmp_path / "model.joblib"), asked()
    assert tree.get_depth() == DEPTH
    assert np.mean(tree.predict(encoded(data)) == data.answers) > np.mean(data.answers == 0)
    settings = json.loads((tmp_path / "settings.json").read_text())
    assert (settings["http_port"], settings["parallel_workers"]) == (1, 0)
