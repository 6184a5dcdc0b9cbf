"""The orders of both services: 200 of them in SQLite, the same in every process."""

from __future__ import annotations

import sqlite3
from typing import Any

ORDERS = 200
ARTICLES = ("cup", "plate", "spoon", "bowl", "pan")


def open_shop() -> sqlite3.Connection:
    """A shop in memory, which every thread may read."""
    shop = sqlite3.connect(":memory:", check_same_thread=False)
    shop.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT)")
    shop.execute("CREATE TABLE items (number INTEGER, article TEXT, count INTEGER, cents INTEGER)")
    for number in range(1, ORDERS + 1):
        shop.execute("INSERT INTO orders VALUES (?, ?)", (number, f"customer {number % 17}"))
        for place in range(1 + number % 4):
            article = ARTICLES[(number + place) % len(ARTICLES)]
            shop.execute("INSERT INTO items VALUES (?, ?, ?, ?)", (number, article, 1 + place, 100 + 7 * number))
    return shop


def order_of(shop: sqlite3.Connection, number: int) -> dict[str, Any] | None:
    """An order with its items; None where there is none of that number."""
    found = shop.execute("SELECT customer FROM orders WHERE id = ?", (number,)).fetchone()
    if found is None:
        return None
    rows = shop.execute("SELECT article, count, cents FROM items WHERE number = ?", (number,))
    items = [{"article": article, "count": count, "cents": cents} for article, count, cents in rows]
    total = sum(item["count"] * item["cents"] for item in items)
    return {"id": number, "customer": found[0], "total": total, "items": items}
