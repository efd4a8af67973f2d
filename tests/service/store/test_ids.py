import re
import time

import pytest

from service.store import ids
from service.store.ids import new_id


def test_an_id_says_what_it_names() -> None:
    assert re.fullmatch(r"trn_[0-9a-hjkmnp-tv-z]{26}", new_id("trn"))


def test_ids_of_one_process_only_grow() -> None:
    made = [new_id("ds") for _ in range(5000)]
    assert made == sorted(set(made))


def test_ids_grow_also_when_the_clock_steps_back(monkeypatch: pytest.MonkeyPatch) -> None:
    first = new_id("ds")
    monkeypatch.setattr(ids.time, "time_ns", lambda: 0)
    assert new_id("ds") > first


def test_ids_of_different_processes_sort_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for moment in (1_700_000_000, 1_700_000_001, 4_000_000_000):
        monkeypatch.setattr(ids, "_last", 0)
        monkeypatch.setattr(ids.time, "time_ns", lambda moment=moment: moment * 10**9)
        made.append(new_id("ds"))
    assert made == sorted(made)


def test_an_id_begins_with_the_time() -> None:
    number = 0
    for character in new_id("job").removeprefix("job_"):
        number = number * 32 + ids.CROCKFORD.index(character)
    assert abs((number >> 80) / 1000 - time.time()) < 5
