"""What can differ between two cells in where their rows are kept; `factors` has it among all others."""

from __future__ import annotations

from orchestrator.experiment.model.factor import Factor, Values
from orchestrator.experiment.model.levels import Level, Numbers

STORE = "store"
POOL = "pool"
DRIVER = "driver"
DATABASE = "database"
SQLITE = "sqlite"
POSTGRESQL = "postgresql"
OWN_DRIVERS = ("psycopg", "pgx")
"""The libraries by which some responder asks PostgreSQL unless it is told otherwise: each has one of them."""
GIVEN = "ORCH_POSTGRESQL"
"""The environment's variable that holds the DSN of a server that runs already; it may hold a password, and is in no file."""

OF_THE_STORE: tuple[Factor, ...] = (
    Factor(
        name=STORE,
        title="store",
        kind="level",
        belongs_to="call",
        reaches="resource",
        levels=(
            Level(value="none", words="rows in the responder's memory", compared="no database", shown="none"),
            Level(value="sqlite", words="rows in SQLite", compared="SQLite", shown="SQLite (sqlite)"),
            Level(
                value="postgresql", words="rows in PostgreSQL", compared="PostgreSQL", shown="PostgreSQL (postgresql)"
            ),
        ),
        description="Keep accounts and transactions in the responder's memory (none), or in a database: SQLite in WAL mode"
        " (sqlite), or PostgreSQL (postgresql)",
        column="store",
        has_streams=True,
    ),
    Factor(
        name=POOL,
        title="pool",
        kind="level",
        belongs_to="call",
        reaches="resource",
        levels=(
            Level(
                value="standard",
                words="a pool of 10 connections to the database",
                compared="a pool of 10 connections",
                shown="10 connections (standard)",
            ),
        ),
        numbers=Numbers(
            least=1,
            most=1_000,
            words="a pool of {} connections to the database",
            compared="a pool of {} connections",
            one="a pool of one connection to the database",
            why="a pool without a connection answers nobody",
        ),
        description="How many connections to the database the responder keeps, 1 to 1000; 10 unless given (standard)",
        has_streams=True,
    ),
    Factor(
        name=DRIVER,
        title="driver",
        kind="level",
        belongs_to="call",
        reaches="resource",
        levels=(
            Level(value="psycopg", words="psycopg 3 in threads", compared="psycopg", shown="psycopg"),
            Level(value="asyncpg", words="asyncpg on the event loop", compared="asyncpg", shown="asyncpg"),
            Level(value="pgx", words="pgx in goroutines", compared="pgx", shown="pgx"),
        ),
        description="By which library the responder asks PostgreSQL: in Python psycopg 3 in threads (psycopg), or asyncpg on"
        " its event loop (asyncpg); in Go pgx; its own first one unless given",
        has_streams=True,
    ),
)


def resources(values: Values) -> dict[str, str]:
    """What a responder is told of a cell's store, by name; empty where rows are in memory."""
    told = ((factor, values.get(factor.name, factor.default)) for factor in OF_THE_STORE)
    return {factor.name: str(value) for factor, value in told if value is not None and value != factor.default}
