"""Addresses of databases: a password that is cut in two by a character of its own is neither sent anywhere nor told."""

from __future__ import annotations

import pytest

from services.python.stores import postgresql
from services.python.stores.base import StoreError


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://me:one@two@127.0.0.1:9/x",
        "postgresql://me:one/two@127.0.0.1:9/x",
        "postgresql://me:one@two:three@127.0.0.1/x",
        "host=127.0.0.1 port=two dbname=x",
    ],
)
def test_a_password_that_is_cut_in_two_is_not_told(dsn: str) -> None:
    with pytest.raises(StoreError, match="writes @ as %40") as refused:
        postgresql.named(dsn)
    assert not {"one", "two", "three"} & set(str(refused.value).split())
    assert "two" not in str(refused.value)
