"""How SQLite's connections are saved, with their settings. It loads sqlite3, so it is imported when there is such a connection.

Pickles refer to `open_sqlite`; it keeps its name and arguments.
"""

import contextlib
import os
import pickle
import sqlite3
import threading
import urllib.parse
from typing import Any

from . import partial_losses
from .partial_losses import listed
from .reduction import Reduced

# Settings of a connection whose value can be read and set.
_PRAGMAS = (
    *("foreign_keys", "busy_timeout", "cache_size", "synchronous", "temp_store", "recursive_triggers", "query_only", "ignore_check_constraints"),
    *("read_uncommitted", "secure_delete", "journal_size_limit", "automatic_index", "cell_size_check", "trusted_schema", "legacy_alter_table"),
    *("reverse_unordered_selects", "analysis_limit", "wal_autocheckpoint"),
)


def reduced_sqlite(connection: sqlite3.Connection) -> Reduced:
    if connection.in_transaction:
        raise pickle.PicklingError("It has changes that are not committed. Call commit() to keep them")
    if type(connection) is not sqlite3.Connection:
        raise pickle.PicklingError("It is a connection of another class. Open it again")
    cursor = connection.cursor()
    cursor.row_factory = None
    paths = {name: path for _, name, path in cursor.execute("PRAGMA database_list")}
    settings = {
        "isolation_level": connection.isolation_level,
        "autocommit": connection.autocommit,
        "row_factory": connection.row_factory,
        "text_factory": connection.text_factory,
        "check_same_thread": _is_bound_to_its_thread(connection),
        "detect_types": _detected_types(connection),
        "is_read_only": bool(paths.get("main")) and _is_read_only(cursor),
    }
    pragmas = {name: row[0] for name in _PRAGMAS if (row := cursor.execute(f"PRAGMA {name}").fetchone()) is not None}
    main, attached = paths.pop("main", ""), {}
    for name, path in paths.items():
        if name != "temp":
            attached[name] = os.path.abspath(path) if path else connection.serialize(name=name)
    _name_unsaved(connection, cursor)
    return open_sqlite, (os.path.abspath(main) if main else connection.serialize(), attached, settings, pragmas)


def open_sqlite(main: str | bytes, attached: dict[str, str | bytes], settings: dict[str, Any], pragmas: dict[str, Any]) -> sqlite3.Connection:
    """Databases are paths, or contents of those in memory."""
    options = {name: settings[name] for name in ("isolation_level", "autocommit", "check_same_thread", "detect_types")}
    if settings["is_read_only"] and isinstance(main, str):
        connection = sqlite3.connect(f"file:{urllib.parse.quote(main)}?mode=ro", uri=True, **options)
    else:
        connection = sqlite3.connect(main if isinstance(main, str) else ":memory:", **options)
    if isinstance(main, bytes) and main:
        connection.deserialize(main)
    for name, content in attached.items():
        quoted = name.replace('"', '""')
        connection.execute(f'ATTACH ? AS "{quoted}"', (content if isinstance(content, str) else ":memory:",))
        if isinstance(content, bytes) and content:
            connection.deserialize(content, name=name)
    for name, value in pragmas.items():
        if name in _PRAGMAS and isinstance(value, int):
            connection.execute(f"PRAGMA {name} = {value}")
    connection.row_factory, connection.text_factory = settings["row_factory"], settings["text_factory"]
    return connection


def _is_bound_to_its_thread(connection: sqlite3.Connection) -> bool:
    """No attribute tells it."""
    refused = []

    def use() -> None:
        try:
            connection.cursor().close()
        except sqlite3.ProgrammingError:
            refused.append(True)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    return bool(refused)


def _is_read_only(cursor: sqlite3.Cursor) -> bool:
    """Whether it was opened with `mode=ro`, which no attribute tells."""
    if cursor.execute("PRAGMA query_only").fetchone()[0]:
        return False
    timeout = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
    cursor.execute("PRAGMA busy_timeout = 0")
    version = cursor.execute("PRAGMA user_version").fetchone()[0]
    try:
        cursor.execute("BEGIN IMMEDIATE")
        cursor.execute(f"PRAGMA user_version = {int(version)}")
        return False
    except sqlite3.OperationalError as error:
        return "readonly" in str(error)
    finally:
        if cursor.connection.in_transaction:
            cursor.execute("ROLLBACK")
        cursor.execute(f"PRAGMA busy_timeout = {int(timeout)}")


def _detected_types(connection: sqlite3.Connection) -> int:
    """No attribute tells it. Types of declared columns are seen in a database with at least one table."""
    found = 0
    converters: dict[str, Any] = sqlite3.converters  # type: ignore[attr-defined]
    before = converters.get("TEXT")
    sqlite3.register_converter("TEXT", lambda _value: found_type)
    found_type = object()
    factory, connection.row_factory = connection.row_factory, None
    try:
        for flag, query in (
            (sqlite3.PARSE_COLNAMES, """SELECT 'x' AS "x [text]" """),
            (sqlite3.PARSE_DECLTYPES, "SELECT name FROM sqlite_schema LIMIT 1"),
        ):
            row = connection.execute(query).fetchone()
            found |= flag if row is not None and row[0] is found_type else 0
    finally:
        connection.row_factory = factory
        if before is None:
            converters.pop("TEXT", None)
        else:
            converters["TEXT"] = before
    return found


def _name_unsaved(connection: sqlite3.Connection, cursor: sqlite3.Cursor) -> None:
    functions = "SELECT DISTINCT name FROM pragma_function_list WHERE builtin = 0"
    collations = "SELECT name FROM pragma_collation_list"
    with contextlib.closing(sqlite3.connect(":memory:")) as fresh:
        for part, query in (("SQL functions", functions), ("SQL collations", collations)):
            standard = set(fresh.execute(query))
            names = sorted(str(row[0]) for row in cursor.execute(query).fetchall() if row not in standard)
            if names:
                partial_losses.note(part, f"Functions of Python in SQL cannot be saved. Create them again: {listed(names)}")
    tables = [str(row[0]) for row in cursor.execute("SELECT name FROM sqlite_temp_schema WHERE type IN ('table', 'view')")]
    if tables:
        partial_losses.note("temporary tables", f"Temporary tables cannot be saved. Create them again: {listed(tables)}")
