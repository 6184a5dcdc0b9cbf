"""What is said of one column of an exported table, and rows as a table of typed columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from orchestrator.errors import InvalidMeasurement
from orchestrator.experiment.model.factor import Factor

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Type: TypeAlias = Literal["text", "whole", "number", "yes/no"]
Value: TypeAlias = str | int | float | bool | None
Row: TypeAlias = Mapping[str, Value]

_FITTING: Mapping[Type, tuple[type, ...]] = {
    "text": (str,),
    "whole": (int,),
    "number": (int, float),
    "yes/no": (bool,),
}
_OF_PANDAS: Mapping[Type, str] = {"text": "object", "whole": "Int64", "number": "float64", "yes/no": "boolean"}
_INT64 = 1 << 63


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
        """The value, if it is one that this column may hold; text is made of anything. InvalidMeasurement else."""
        if value is None:
            return None
        if self.type == "text":
            return str(value)
        is_odd = not isinstance(value, _FITTING[self.type]) or (isinstance(value, bool) and self.type != "yes/no")
        if is_odd or (isinstance(value, int) and not -_INT64 <= value < _INT64):
            raise InvalidMeasurement(
                f"{self.name} is {str(value)[:60]!r}, which is no value of a column of type {self.type}",
                hint="orch never writes this: do not trust the folder, and ask whoever sent it",
            )
        return float(value) if self.type == "number" else value

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


def fitted(columns: Sequence[Column], row: Row) -> dict[str, Value]:
    """A row with a value of every column, in their order; errors as `Column.fitting`."""
    return {column.name: column.fitting(row.get(column.name)) for column in columns}


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


def arrow_table(columns: Sequence[Column], rows: Sequence[Row]) -> pa.Table:
    """The rows as an Arrow table of these columns."""
    import pyarrow as pa

    arrays = [pa.array([row[c.name] for row in rows], type=arrow_type(c)) for c in columns]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(columns))


def data_frame(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows as a data frame of these columns; `attrs["units"]` and `attrs["meanings"]` say what each holds.

    Whole numbers are of pandas' type Int64 and truth values of its type boolean, so that one may be missing; a missing
    number is NaN, a missing text None.
    """
    import pandas as pd

    made = {c.name: pd.Series([row[c.name] for row in rows], dtype=_OF_PANDAS[c.type]) for c in columns}
    return described(pd.DataFrame(made), columns)


def described(frame: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame:
    """The frame with the units and meanings of its columns in `attrs`."""
    frame.attrs["units"] = {c.name: c.unit for c in columns if c.unit}
    frame.attrs["meanings"] = {c.name: c.meaning for c in columns}
    return frame
