"""A moment's trouble of the API does not end a run; real trouble is soon said; nothing is done twice."""

from __future__ import annotations

import sys
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from fake_compute import NO_ANSWER, FakeCompute

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "infra" / "gcp"))

from retrying import TRIES, Retrier

LIST = "projects/demo/global/networks"


def request(compute: FakeCompute, method: str = "GET", path: str = LIST) -> urllib.request.Request:
    return urllib.request.Request(compute.url + path, method=method, data=b"{}" if method == "POST" else None)


class Waits(list[float]):
    """Takes down how long would have been slept."""

    def retrier(self, budget_s: float = 1000.0) -> Retrier:
        return Retrier(budget_s=budget_s, sleep=self.append)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, NO_ANSWER])
def test_one_moment_of_trouble_is_outlived(compute: FakeCompute, status: int) -> None:
    waits = Waits()
    compute.troubles = [(status, None)]
    assert waits.retrier().fetch(request(compute), timeout_s=5) == b'{"items": []}'
    assert len(waits) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409])
def test_a_refusal_is_final(compute: FakeCompute, status: int) -> None:
    waits = Waits()
    compute.troubles = [(status, None)]
    with pytest.raises(urllib.error.HTTPError) as caught:
        waits.retrier().fetch(request(compute), timeout_s=5)
    assert (caught.value.code, waits) == (status, [])
    assert b"try again later" in caught.value.read()


def test_tries_come_to_an_end_and_waits_grow_at_random(compute: FakeCompute) -> None:
    longest = [0.0] * (TRIES - 1)
    for _ in range(40):
        waits = Waits()
        compute.troubles = [(503, None)] * TRIES
        with pytest.raises(urllib.error.HTTPError):
            waits.retrier().fetch(request(compute), timeout_s=5)
        assert len(waits) == TRIES - 1
        assert all(wait <= 0.5 * 2**number for number, wait in enumerate(waits))
        longest = list(map(max, longest, waits))
    assert longest == sorted(longest)
    assert longest[-1] > 4


def test_the_api_says_itself_how_long(compute: FakeCompute) -> None:
    waits = Waits()
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    compute.troubles = [(429, "7"), (503, soon), (503, "later")]
    waits.retrier().fetch(request(compute), timeout_s=5)
    assert waits[0] == 7
    assert 15 < waits[1] <= 20
    assert waits[2] <= 2


def test_waiting_longer_than_there_is_patience_for_is_not_begun(compute: FakeCompute) -> None:
    waits = Waits()
    compute.troubles = [(429, "3600")]
    with pytest.raises(urllib.error.HTTPError):
        waits.retrier(budget_s=45).fetch(request(compute), timeout_s=5)
    assert waits == []


def test_all_requests_share_one_budget(compute: FakeCompute) -> None:
    waits = Waits()
    retrier = waits.retrier(budget_s=10)
    compute.troubles = [(429, "6")]
    retrier.fetch(request(compute), timeout_s=5)
    compute.troubles = [(429, "6")]
    with pytest.raises(urllib.error.HTTPError):
        retrier.fetch(request(compute), timeout_s=5)
    assert waits == [6]


@pytest.mark.parametrize(
    ("method", "path", "is_repeated"),
    [
        ("DELETE", f"{LIST}/n", True),
        ("POST", "projects/demo/global/operations/o/wait", True),
        ("POST", "projects/demo:testIamPermissions", True),
        ("POST", LIST, False),
        ("POST", "projects/demo/zones/z/instances/i/stop", False),
    ],
)
def test_only_what_may_be_sent_twice_is(compute: FakeCompute, method: str, path: str, is_repeated: bool) -> None:
    compute.troubles = [(503, None)] * 2
    waits = Waits()
    try:
        waits.retrier().fetch(request(compute, method, path), timeout_s=5)
    except urllib.error.HTTPError as error:
        error.close()
    assert len(waits) == (2 if is_repeated else 0)
