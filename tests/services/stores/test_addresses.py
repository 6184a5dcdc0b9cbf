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


@pytest.mark.parametrize(
    ("dsn", "words"),
    [
        ("postgresql://me:one%40two@db:5433/x", "the database x at db:5433"),
        ("host=/run/here dbname=x port=5433 hostaddr='' options=''", "the database x at /run/here"),
        ("host=a,b port=1,2 dbname=x", "the database x at a,b:1,2"),
        ("host=@abstract dbname=x", "the database x at @abstract"),
    ],
)
def test_any_other_address_is_named(dsn: str, words: str) -> None:
    assert postgresql.named(dsn) == words
