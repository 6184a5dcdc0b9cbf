"""What the JSON API answers with: plain data with a description each, from which its documentation is made."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Interval = tuple[float, float]


class Shape(BaseModel):
    """Every answer is one of these, as JSON."""

    model_config = ConfigDict(from_attributes=True)


class Problem(Shape):
    """Why a request got no answer (RFC 9457)."""

    type: str = Field(description="about:blank")
    title: str = Field(description="the kind of problem, in a few words")
    status: int = Field(description="the status of HTTP")
    message: str = Field(description="what is wrong")
    hint: str | None = Field(description="what to do next")


class NoteOf(Shape):
    """A sentence that somebody wrote on a run."""

    at: str = Field(description="when, ISO 8601 in UTC")
    text: str = Field(description="the sentence; foreign text")


class RunListed(Shape):
    """A run as the list has it."""

    id: str = Field(description="name of its folder, by which requests name it")
    run_id: str = Field(description="what it says of itself")
    name: str = Field(description="of the experiment")
    question: str = Field(description="what the experiment asks")
    started: str = Field(description="ISO 8601 in UTC; empty where that is not known")
    ended: str = Field(description="likewise")
    state: str = Field(description="complete, in progress, interrupted, unreadable, ...")
    provider: str = Field(description="who made the hosts")
    hosts: list[str] = Field(description="names, CPUs and machine types")
    verdict: str = Field(description="first sentence of the answer")
    validity: str = Field(description="valid, warned, invalid, or not judged")
    passed: int = Field(description="checks, each by its worst verdict")
    warned: int = Field(description="likewise")
    failed: int = Field(description="likewise")
    trials: int = Field(description="trials that were made")
    samples: int = Field(description="measured requests")
    is_ours: bool = Field(description="made here, and as it was left")
    trouble: str = Field(description="why it says no more")
    stacks: list[str] = Field(description="labels of its stacks")
    placements: list[str] = Field(description="names of its placements")
    tags: list[str] = Field(description="words that somebody put on it")
    notes: list[NoteOf] = Field(description="sentences that somebody wrote on it")


class RunsPage(Shape):
    """A page of runs, newest first."""

    runs: list[RunListed]
    of: int = Field(description="how many runs there are on all pages")
    page: int = Field(description="this page, from 1")
    pages: int = Field(description="how many pages there are")
    troubles: list[str] = Field(description="what could not be kept or read")


class CheckCounts(Shape):
    """Checks by verdict, each by its worst one."""

    passed: int
    warned: int
    failed: int


class RunDetails(Shape):
    """A run judged."""

    id: str = Field(description="name of its folder")
    run_id: str = Field(description="what it says of itself")
    name: str = Field(description="of the experiment")
    question: str
    state: str = Field(description="complete, or how it ended")
    started_at: str
    ended_at: str | None
    answer: list[str] = Field(description="sentences, the first one answers the question")
    invalid: str = Field(description="which figures are invalid, as a sentence; empty where none is")
    remarks: list[str] = Field(description="what a reader must know of the run")
    checks: CheckCounts
    conditions: dict[str, str] = Field(description="by name: CPU, kernel, versions, ...")
    repeat_command: str = Field(description="the call that makes the run again")


class Table(Shape):
    """Rows with what their columns mean (docs/exports.md)."""

    columns: list[dict[str, Any]] = Field(description="name, type, unit and meaning of each column")
    rows: list[dict[str, Any]] = Field(description="a value for each column, or null")


class ComparisonOf(Shape):
    """One run's stacks compared, or a run with an older one; a ratio above 1 is slower (docs/compare.md)."""

    of: str = Field(description="the run")
    reference: str = Field(description="what it is compared with")
    statistic: Literal["median", "p99", "throughput"]
    margin: float = Field(description="a relative difference below which nothing matters")
    rows: list[dict[str, Any]] = Field(description="as `orch compare --json` has them")
    differences: list[str] = Field(description="what differs between the runs")
    model: str = Field(description="where the spread between runs is taken from")
    equal_runs: list[str] = Field(description="earlier runs that are equal to the older one")
    in_all_rows: list[str] = Field(description="doubts and notes of every row")


class CellKnown(Shape):
    """A cell that runs measured."""

    cell: str = Field(description="its id")
    stack: str = Field(description="id of its stack")
    label: str
    runs: int = Field(description="how many runs measured it")


class TrendOf(Shape):
    """A cell over runs, oldest first (docs/history.md)."""

    cell: str
    label: str
    statistic: Literal["median", "p99", "throughput"]
    points: list[dict[str, Any]] = Field(description="a run each, as `orch history --json` has them")
    environments: list[list[str]] = Field(description="by number, how those conditions differ from the first ones")


class Annotations(Shape):
    """What was written on a run."""

    run: str = Field(description="name of its folder")
    notes: list[NoteOf]
    tags: list[str]


class NewNote(BaseModel):
    """A sentence to be written on a run."""

    model_config = ConfigDict(extra="forbid")
    text: str = Field(min_length=1, max_length=2000, description="the sentence")


class NewTags(BaseModel):
    """Tags to be added and removed; what is removed must be there."""

    model_config = ConfigDict(extra="forbid")
    add: list[str] = Field(default_factory=list, max_length=100, description="words of letters, digits and . _ - / : +")
    remove: list[str] = Field(default_factory=list, max_length=100, description="likewise")


class Deleted(Shape):
    """What went."""

    deleted: list[str] = Field(description="the run folder and its report")
