"""The store `none`: the same rows from this process's own memory, with no database and no connection to wait for."""

from __future__ import annotations

import threading

from services.python.stores import seed
from services.python.stores.base import Payment, Runs, Spent, declined, refuse_unfit
from services.python.stores.seed import Account, Transaction


class MemoryStore:
    """Accounts and transactions, as every store has them; `spent` stays as it is, as nothing here is a database's.

    Each method may be called from any thread, and adds to `spent` what it took. `runs`: where: at once in the thread that
    took the request; in a pool of threads, at least `threads` of them; or on the server's event loop, and then every method
    gives something to await. The seeded transactions are made when they are first asked for, by the requester's check.
    """

    runs: Runs = "inline"
    threads = 0

    def __init__(self) -> None:
        self._accounts: list[Account] = list(seed.accounts())
        self._paid: dict[int, list[Transaction]] = {}  # since the start, oldest first
        self._entered: list[Transaction] = []  # the same of all payers
        self._number = seed.TRANSACTIONS
        self._lock = threading.Lock()

    def account(self, number: int, spent: Spent) -> Account | None:  # noqa: ARG002 - see the class
        """An account; None where there is none."""
        return self._accounts[number - 1] if 0 < number <= len(self._accounts) else None

    def pay(self, payer: int, payee: int, amount: int, spent: Spent) -> Payment:  # noqa: ARG002 - see the class
        """Move an amount between two accounts and enter it as a transaction, all of it or nothing.

        It is declined where the payer's balance is below the amount. Of two payments on one account the later one waits
        for the earlier; accounts are taken in the order of their numbers. StoreError where an account is missing, both are
        one, the amount is not above 0, or the payee's balance would exceed `seed.MOST_BALANCE`.
        """
        refuse_unfit(payer, payee, amount)
        with self._lock:
            accounts = self._accounts
            balances = {number: accounts[number - 1][2] for number in (payer, payee) if 0 < number <= len(accounts)}
            if (payment := declined(balances, payer, payee, amount)) is not None:
                return payment
            self._number += 1
            left = balances[payer] - amount
            accounts[payer - 1] = (payer, accounts[payer - 1][1], left)
            accounts[payee - 1] = (payee, accounts[payee - 1][1], balances[payee] + amount)
            entered = self._number, payer, payee, amount
            self._paid.setdefault(payer, []).append(entered)
            self._entered.append(entered)
            return Payment(accepted=True, number=self._number, balance=left)

    def last(self, payer: int, count: int, spent: Spent) -> list[Transaction]:  # noqa: ARG002 - see the class
        """The last transactions that an account paid, newest first, at most so many."""
        if not 0 < payer <= len(self._accounts):
            return []
        with self._lock:
            newest = self._paid.get(payer, [])[: -count - 1 : -1]
        return [*newest, *seed.by_payer()[payer][: count - len(newest)]]

    def page(self, after: int, count: int, spent: Spent) -> list[Account]:  # noqa: ARG002 - see the class
        """The accounts that follow a number, by number, at most so many."""
        first = max(after, 0)
        return self._accounts[first : first + count]

    def after(self, number: int, count: int, spent: Spent) -> list[Transaction]:  # noqa: ARG002 - see the class
        """The transactions that follow a number, by number, at most so many; of a database with one query."""
        first = max(number, 0)
        seeded = seed.transactions()[first : first + count]
        if len(seeded) == count:
            return list(seeded)
        entered = max(first - seed.TRANSACTIONS, 0)
        with self._lock:
            return [*seeded, *self._entered[entered : entered + count - len(seeded)]]
