"""Statements of every rating, compiled once and run on the driver's own cursor.

SQLAlchemy spends several times as long around such a statement as the database spends on it; here only the values
are new each time.
"""

from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Delete, Insert, Select, Update
from sqlalchemy.exc import IntegrityError, OperationalError

Value = Callable[[Any], Any]


@dataclass(slots=True)
class _Compiled:
    """A statement in one database's words."""

    text: str
    fixed: dict[str, Any]
    """Values that the statement itself holds."""
    order: tuple[str, ...] | None
    """Names in the order of their places; None where the driver takes them by name."""
    inward: dict[str, Value]
    row: Callable[..., Any]
    outward: tuple[Value | None, ...] | None = None
    """What makes a value of the driver's into ours; known when the driver first names its types."""


class Statement:
    """A statement whose values come by name. The connection must be in a transaction, if it writes."""

    def __init__(self, element: Select[*tuple[Any, ...]] | Insert | Update | Delete) -> None:
        self._element = element
        self._compiled: dict[str, _Compiled] = {}

    def rows(self, connection: Connection, values: Mapping[str, Any]) -> list[Any]:
        """What is found, each row with its columns as attributes."""
        compiled = self._for(connection)
        cursor = self._run(connection, compiled, values)
        found = cursor.fetchall()
        if compiled.outward is None:
            compiled.outward = self._outward(connection, cursor.description)
        ways = compiled.outward
        if any(ways):
            return [
                compiled.row(*(way(v) if way else v for way, v in zip(ways, row, strict=True)))
                for row in found
            ]
        return [compiled.row(*row) for row in found]

    def one(self, connection: Connection, values: Mapping[str, Any]) -> Any | None:
        """The only row, or None."""
        found = self.rows(connection, values)
        return found[0] if found else None

    def changed(self, connection: Connection, values: Mapping[str, Any]) -> int:
        """How many rows a change touched."""
        return int(self._run(connection, self._for(connection), values).rowcount)

    def _run(self, connection: Connection, compiled: _Compiled, values: Mapping[str, Any]) -> Any:
        given = {**compiled.fixed, **values}
        for name, way in compiled.inward.items():
            given[name] = way(given[name])
        cursor = connection.connection.cursor()
        driver = connection.dialect.loaded_dbapi
        try:
            cursor.execute(
                compiled.text, given if compiled.order is None else [given[name] for name in compiled.order]
            )
        except driver.IntegrityError as fault:
            raise IntegrityError(compiled.text, None, fault) from fault
        except driver.Error as fault:
            raise OperationalError(compiled.text, None, fault) from fault
        return cursor

    def _for(self, connection: Connection) -> _Compiled:
        name = connection.dialect.name
        if name not in self._compiled:
            self._compiled[name] = self._compile(connection)
        return self._compiled[name]

    def _compile(self, connection: Connection) -> _Compiled:
        dialect = connection.dialect
        compiled: Any = self._element.compile(dialect=dialect)
        inward = {
            name: way
            for name, bind in compiled.binds.items()
            if (way := bind.type.dialect_impl(dialect).bind_processor(dialect))
        }
        row = namedtuple("row", [column.key for column in self._columns()])  # type: ignore[misc]
        fixed = {name: bind.value for name, bind in compiled.binds.items() if not bind.required}
        order = tuple(compiled.positiontup) if compiled.positional else None
        return _Compiled(str(compiled), fixed, order, inward, row)

    def _columns(self) -> list[Any]:
        element = self._element
        return list(element.selected_columns if isinstance(element, Select) else element.exported_columns)

    def _outward(self, connection: Connection, told: Any) -> tuple[Value | None, ...]:
        dialect = connection.dialect
        return tuple(
            column.type.dialect_impl(dialect).result_processor(dialect, kind[1])
            for column, kind in zip(self._columns(), told, strict=True)
        )
