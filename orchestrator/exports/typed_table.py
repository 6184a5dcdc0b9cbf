"""Tables of typed columns, as every format gets them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from orchestrator.experiment.model.factor import Factor

if TYPE_CHECKING:
    import pyarrow as pa

Type: TypeAlias = Literal["text", "whole", "number", "yes/no"]
Value: TypeAlias = str | int | float | bool | None
Row: TypeAlias = Mapping[str, Value]


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column: its name, the type and the unit of its values ("" where they have none), and what they mean.

    A value is None where there is none, or where there is not enough data to say.
    """

    name: str
    type: Type
    meaning: str
    unit: str = ""

    def fitting(self, value: Value) -> Value:
        """The value as this column holds it: text is made of anything, and a whole number is a number."""
        if value is None or self.type in ("whole", "yes/no"):
            return value
        return str(value) if self.type == "text" else float(value)

    def to_dict(self) -> dict[str, str]:
        """What a document says of it."""
        return {"name": self.name, "type": self.type, "unit": self.unit, "meaning": self.meaning}


def type_of(factor: Factor) -> Type:
    """The type of a factor's values: text where they are names, or a mixture of words and numbers."""
    if factor.levels or factor.kind in ("name", "level", "text"):
        return "text"
    return "whole" if factor.kind in ("count", "bytes") else "number"


def unit_of(factor: Factor) -> str:
    """The unit of a factor's values in an exported table."""
    if type_of(factor) == "text":
        return ""
    return {"bytes": "B", "rate": "1/s", "time": "s"}.get(factor.kind, "")


@dataclass(frozen=True, kw_only=True)
class ReadColumn(Column):
    """A column with the function that reads its value from the item of a row."""

    read: Callable[[Any], Value]


def text(name: str, meaning: str, read: Callable[[Any], Value]) -> ReadColumn:
    """A column of texts."""
    return ReadColumn(name=name, type="text", meaning=meaning, read=read)


def whole(name: str, meaning: str, read: Callable[[Any], Value], unit: str = "") -> ReadColumn:
    """A column of whole numbers."""
    return ReadColumn(name=name, type="whole", unit=unit, meaning=meaning, read=read)


def number(name: str, unit: str, meaning: str, read: Callable[[Any], Value]) -> ReadColumn:
    """A column of numbers."""
    return ReadColumn(name=name, type="number", unit=unit, meaning=meaning, read=read)


def truth(name: str, meaning: str, read: Callable[[Any], Value]) -> ReadColumn:
    """A column of true and false."""
    return ReadColumn(name=name, type="yes/no", meaning=meaning, read=read)


@dataclass(frozen=True)
class Table:
    """Rows of values below columns, each row with every column in their order."""

    columns: tuple[Column, ...]
    rows: tuple[dict[str, Value], ...]

    def schema(self) -> pa.Schema:
        """The columns as a schema of Arrow."""
        return arrow_schema(self.columns)

    def arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        import pyarrow as pa

        arrays = [pa.array([row[c.name] for row in self.rows], type=arrow_type(c)) for c in self.columns]
        return pa.Table.from_arrays(arrays, schema=self.schema())


def fitted(columns: Sequence[Column], row: Row) -> dict[str, Value]:
    """Return a row with a value of every column, in their order."""
    return {column.name: column.fitting(row.get(column.name)) for column in columns}


def table_of(columns: tuple[ReadColumn, ...], items: Iterable[Any]) -> Table:
    """A row for each item, read by the columns."""
    return Table(columns, tuple({c.name: c.fitting(c.read(item)) for c in columns} for item in items))


def arrow_type(column: Column) -> pa.DataType:
    """Its type in Arrow and Parquet."""
    import pyarrow as pa

    types = {"text": pa.string(), "whole": pa.int64(), "number": pa.float64(), "yes/no": pa.bool_()}
    return types[column.type]


def arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    """The columns as a schema; unit and meaning stand in the metadata of each field."""
    import pyarrow as pa

    return pa.schema(
        [pa.field(c.name, arrow_type(c), metadata={"unit": c.unit, "meaning": c.meaning}) for c in columns]
    )
