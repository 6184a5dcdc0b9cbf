"""GraphQL's comments under several posts by strawberry's DataLoader: one query for the page, and not one for each post."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from strawberry.dataloader import DataLoader

from services.python.contract.messages import FEED
from services.python.operations.posts import STEPS
from services.python.serve.dispatcher import Dispatcher

Key = tuple[int, int]


def comment_loader(dispatcher: Dispatcher) -> DataLoader[Key, list[dict[str, Any]]]:
    """One for a request, as DataLoaders are meant: it also remembers what it loaded."""

    async def load(keys: list[Key]) -> list[list[dict[str, Any]]]:
        found: dict[Key, list[dict[str, Any]]] = defaultdict(list)
        for each in dict.fromkeys(each for _, each in keys):
            request = {"posts": [post for post, wanted in keys if wanted == each], "each": each}
            reply = dispatcher.step_async(FEED.name, STEPS["under"], request)
            rows = (reply if isinstance(reply, dict) else await reply)["comments"]
            for row in rows:
                found[row["post"], each].append(row)
        return [found[key] for key in keys]

    return DataLoader(load_fn=load)
