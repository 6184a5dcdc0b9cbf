"""The fake Compute API, asked in plain HTTP: it keeps the promises that clients of the real one build on."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest
from fake_compute import FakeCompute

ZONE = "projects/demo/zones/us-west1-a"


def call(compute: FakeCompute, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    data = json.dumps(body).encode() if body else None
    with urllib.request.urlopen(urllib.request.Request(compute.url + path, data=data, method=method)) as answer:
        return json.load(answer)


def instance(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "machineType": "zones/us-west1-a/machineTypes/f1-micro",
        "networkInterfaces": [{"subnetwork": "regions/us-west1/subnetworks/s", "accessConfigs": [{}]}],
        "disks": [{"boot": True, "initializeParams": {"diskSizeGb": 10}}],
        "scheduling": {"maxRunDuration": {"seconds": 3600}, "instanceTerminationAction": "DELETE"},
    }


def test_an_instance_gets_addresses_a_disk_and_a_state(compute: FakeCompute) -> None:
    operation = call(compute, "POST", f"{ZONE}/instances", instance("one"))
    assert operation["status"] == "DONE"
    made = call(compute, "GET", f"{ZONE}/instances/one")
    assert made["status"] == "RUNNING"
    assert made["networkInterfaces"][0]["networkIP"].startswith("10.130.")
    assert made["networkInterfaces"][0]["accessConfigs"][0]["natIP"].startswith("203.0.113.")
    assert call(compute, "GET", f"{ZONE}/disks/one")["name"] == "one"


def test_long_numbers_are_strings(compute: FakeCompute) -> None:
    call(compute, "POST", f"{ZONE}/instances", instance("one"))
    made = call(compute, "GET", f"{ZONE}/instances/one")
    assert made["scheduling"]["maxRunDuration"]["seconds"] == "3600"
    assert made["disks"][0]["diskSizeGb"] == "10"
    assert call(compute, "GET", f"{ZONE}/disks/one")["sizeGb"] == "10"


def test_a_disk_goes_with_its_instance(compute: FakeCompute) -> None:
    call(compute, "POST", f"{ZONE}/instances", instance("one"))
    call(compute, "DELETE", f"{ZONE}/instances/one")
    assert compute.things == {}


def test_what_is_not_there_is_a_404_with_words(compute: FakeCompute) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        call(compute, "GET", f"{ZONE}/instances/none")
    assert caught.value.code == 404
    assert "was not found" in json.load(caught.value)["error"]["message"]


def test_a_name_is_taken_once(compute: FakeCompute) -> None:
    call(compute, "POST", "projects/demo/global/networks", {"name": "net"})
    with pytest.raises(urllib.error.HTTPError) as caught:
        call(compute, "POST", "projects/demo/global/networks", {"name": "net"})
    assert caught.value.code == 409


def test_a_network_in_use_is_not_deleted(compute: FakeCompute) -> None:
    call(compute, "POST", "projects/demo/global/networks", {"name": "net"})
    rule = {"name": "rule", "network": "projects/demo/global/networks/net"}
    call(compute, "POST", "projects/demo/global/firewalls", rule)
    with pytest.raises(urllib.error.HTTPError) as caught:
        call(compute, "DELETE", "projects/demo/global/networks/net")
    assert "being used by 'rule'" in json.load(caught.value)["error"]["message"]


def test_failures_come_on_demand(compute: FakeCompute) -> None:
    compute.failing["POST instances/one"] = "ZONE_RESOURCE_POOL_EXHAUSTED"
    compute.refused["POST networks"] = (403, "Quota 'NETWORKS' exceeded")
    operation = call(compute, "POST", f"{ZONE}/instances", instance("one"))
    assert operation["error"]["errors"][0]["message"] == "ZONE_RESOURCE_POOL_EXHAUSTED"
    with pytest.raises(urllib.error.HTTPError) as caught:
        call(compute, "POST", "projects/demo/global/networks", {"name": "net"})
    assert caught.value.code == 403
    assert compute.things == {}


def test_lists_come_in_pages(compute: FakeCompute) -> None:
    compute.page_size = 2
    for name in ("a", "b", "c"):
        call(compute, "POST", "projects/demo/global/networks", {"name": name})
    first = call(compute, "GET", "projects/demo/global/networks")
    second = call(compute, "GET", f"projects/demo/global/networks?pageToken={first['nextPageToken']}")
    assert [item["name"] for page in (first, second) for item in page["items"]] == ["a", "b", "c"]
    assert "nextPageToken" not in second
