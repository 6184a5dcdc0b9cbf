"""Tables of typed columns, as every format gets them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from orchestrator.experiment.model.factor import Factor

if TYPE_CHECKING:
    import pyarrow as pa

Type: TypeAlias = Literal["text", "whole", "number", "yes/no"]
Value: TypeAlias = str | int | float | bool | None
Row: TypeAlias = dict[str, Value]


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column: its name, the type and the unit of its values ("" where they have none), and what they mean.

    A value is None where there is none, or where there is not enough data to say. `read` takes it from the item of a row.
    """

    name: str
    type: Type
    meaning: str
    unit: str = ""
    read: Callable[[Any], Value] = field(default=lambda _: None, repr=False)

    def fitting(self, value: Value) -> Value:
        """The value as this column holds it: text is made of anything, and a whole number is a number."""
        if value is None or self.type in ("whole", "yes/no"):
            return value
        return str(value) if self.type == "text" else float(value)

    def to_dict(self) -> dict[str, str]:
        """What a document says of it."""
        return {"name": self.name, "type": self.type, "unit": self.unit, "meaning": self.meaning}

    def arrow_type(self) -> pa.DataType:
        """Its type in Arrow and Parquet."""
        import pyarrow as pa

        return {"text": pa.string(), "whole": pa.int64(), "number": pa.float64(), "yes/no": pa.bool_()}[self.type]


def text(name: str, meaning: str, read: Callable[[Any], Value]) -> Column:
    """A column of texts."""
    return Column(name=name, type="text", meaning=meaning, read=read)


def whole(name: str, meaning: str, read: Callable[[Any], Value], unit: str = "") -> Column:
    """A column of whole numbers."""
    return Column(name=name, type="whole", unit=unit, meaning=meaning, read=read)


def number(name: str, unit: str, meaning: str, read: Callable[[Any], Value]) -> Column:
    """A column of numbers."""
    return Column(name=name, type="number", unit=unit, meaning=meaning, read=read)


def of_factor(factor: Factor, name: str) -> Column:
    """The column of a factor: text where its values are names, or a mixture of words and numbers."""
    is_text = bool(factor.levels) or factor.kind in ("name", "level", "text")
    kind: Type = "text" if is_text else "whole" if factor.kind in ("count", "bytes") else "number"
    unit = "" if is_text else {"bytes": "B", "rate": "1/s", "time": "s"}.get(factor.kind, "")
    return Column(name=name, type=kind, unit=unit, meaning=f"factor: {factor.title}")


def rows_of(columns: Sequence[Column], items: Iterable[Any]) -> list[Row]:
    """A row for each item, read by the columns, in their order."""
    return [{c.name: c.fitting(c.read(item)) for c in columns} for item in items]


def schema(columns: Sequence[Column], *, has_dictionaries: bool = False) -> pa.Schema:
    """The columns as a schema of Arrow; unit and meaning are in the metadata of each field.

    `has_dictionaries`: text is encoded by a dictionary, as it repeats.
    """
    import pyarrow as pa

    encoded = pa.dictionary(pa.int32(), pa.string())
    return pa.schema(
        [
            pa.field(
                c.name,
                encoded if has_dictionaries and c.type == "text" else c.arrow_type(),
                metadata={"unit": c.unit, "meaning": c.meaning},
            )
            for c in columns
        ]
    )


def arrow(columns: Sequence[Column], rows: Sequence[Row]) -> pa.Table:
    """The rows as an Arrow table."""
    import pyarrow as pa

    return pa.Table.from_pylist(rows, schema=schema(columns))
