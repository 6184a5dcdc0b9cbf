"""The fake Compute API, asked in plain HTTP: it keeps the promises that clients of the real one build on."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from typing import Any

import pytest
from fake_compute import LINK, FakeCompute

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


FAMILY = "projects/debian-cloud/global/images/family/debian-12"
NEWEST = "projects/debian-cloud/global/images/debian-12-bookworm-v20260110"
# How Terraform's google provider recognises the image of a disk that it reads back: an instance whose disk names its
# image in another way is replaced by the next plan (resolveImageLink in its image.go).
RECOGNISED = re.compile(
    r"https://www\.googleapis\.com/compute/[a-z0-9]+/projects/([^/]+)/global/images/([-_a-zA-Z0-9]*)"
)


def test_a_family_is_its_newest_image_and_no_image_itself(compute: FakeCompute) -> None:
    """The provider asks for an image of that name first, and takes the family only after a 404."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        call(compute, "GET", "projects/debian-cloud/global/images/debian-12")
    assert caught.value.code == 404
    found = call(compute, "GET", FAMILY)
    assert (found["selfLink"], found["family"]) == (LINK + NEWEST, "debian-12")
    assert call(compute, "GET", NEWEST) == found
    with pytest.raises(urllib.error.HTTPError) as caught:
        call(compute, "GET", FAMILY.replace("12", "99"))
    assert caught.value.code == 404


@pytest.mark.parametrize("named", [FAMILY, LINK + FAMILY, NEWEST, LINK + NEWEST])
def test_a_disk_remembers_the_image_and_not_the_family(compute: FakeCompute, named: str) -> None:
    body = instance("one")
    body["disks"][0]["initializeParams"]["sourceImage"] = named
    call(compute, "POST", f"{ZONE}/instances", body)
    source = call(compute, "GET", f"{ZONE}/disks/one")["sourceImage"]
    assert source == LINK + NEWEST
    recognised = RECOGNISED.match(source)
    assert recognised is not None
    assert (recognised[1], "debian-12" in recognised[2]) == ("debian-cloud", True)


def test_an_instance_of_an_unknown_family_is_refused(compute: FakeCompute) -> None:
    body = instance("one")
    body["disks"][0]["initializeParams"]["sourceImage"] = FAMILY.replace("12", "99")
    with pytest.raises(urllib.error.HTTPError) as caught:
        call(compute, "POST", f"{ZONE}/instances", body)
    assert (caught.value.code, compute.things) == (404, {})


def test_whatever_is_stored_names_others_by_their_full_link(compute: FakeCompute) -> None:
    call(compute, "POST", "projects/demo/global/networks", {"name": "net"})
    subnet = {"name": "s", "network": "projects/demo/global/networks/net"}
    call(compute, "POST", "projects/demo/regions/us-west1/subnetworks", subnet)
    call(compute, "POST", f"{ZONE}/instances", instance("one"))
    made = call(compute, "GET", f"{ZONE}/instances/one")
    disk = call(compute, "GET", f"{ZONE}/disks/one")
    interface = made["networkInterfaces"][0]
    assert made["machineType"] == f"{LINK}{ZONE}/machineTypes/f1-micro"
    assert interface["subnetwork"] == f"{LINK}projects/demo/regions/us-west1/subnetworks/s"
    assert interface["network"] == f"{LINK}projects/demo/global/networks/net"
    assert made["disks"][0]["source"] == disk["selfLink"] == f"{LINK}{ZONE}/disks/one"
    assert (made["selfLink"], made["zone"]) == (f"{LINK}{ZONE}/instances/one", LINK + ZONE)
    text = json.dumps([made, disk])
    assert compute.url not in text


def test_a_second_look_sees_the_same(compute: FakeCompute) -> None:
    call(compute, "POST", f"{ZONE}/instances", instance("one"))
    assert call(compute, "GET", f"{ZONE}/instances/one") == call(compute, "GET", f"{ZONE}/instances/one")
