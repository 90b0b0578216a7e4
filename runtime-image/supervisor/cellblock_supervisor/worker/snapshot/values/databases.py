"""How connections to databases are saved: SQLAlchemy engines and DuckDB. Those of SQLite: `sqlite_connections`.

Pickles refer to the public functions of this module; they keep their names and arguments.
"""

import os
import pickle
import sys
import tempfile
from typing import Any

from . import partial_losses
from .partial_losses import listed
from .reduction import Reduced

_MAX_DEFAULT_BYTES = 256 * 1024 * 1024


def reduced_engine(engine: Any) -> Reduced:
    if engine.url.get_backend_name() == "sqlite" and engine.url.database in (None, "", ":memory:"):
        raise pickle.PicklingError("Its database is in memory. Use a file in /mnt/data to keep it")
    pool = engine.pool
    options = {
        "echo": engine.echo,
        "hide_parameters": engine.hide_parameters,
        "execution_options": dict(engine.get_execution_options()),
        "isolation_level": getattr(engine.dialect, "_on_connect_isolation_level", None),
        "poolclass": type(pool),
        "pool_pre_ping": pool._pre_ping,
        "pool_recycle": pool._recycle,
    }
    if hasattr(pool, "_max_overflow"):
        options |= {"pool_size": pool.size(), "max_overflow": pool._max_overflow, "pool_timeout": pool._timeout}
    arguments = _connect_arguments(engine)
    if arguments is None:
        partial_losses.note("creator", "The function that connects cannot be saved. Create the engine again.")
    listeners = [name for events in (engine.dispatch, pool.dispatch) for name in events._event_names if _has_listener(getattr(events, name))]
    if listeners:
        partial_losses.note("event listeners", f"Event listeners cannot be saved. Add them again: {listed(listeners)}")
    return open_engine, (engine.url.render_as_string(hide_password=False), {**options, "connect_args": arguments or {}})


def _connect_arguments(engine: Any) -> dict[str, Any] | None:
    """Those that differ from what the URL alone leads to; None for a function of the user."""
    creator = engine.pool._creator
    names = getattr(getattr(creator, "__code__", None), "co_freevars", ())
    if getattr(creator, "__module__", "") != "sqlalchemy.engine.create" or "cparams" not in names:
        return None
    given = creator.__closure__[names.index("cparams")].cell_contents
    _, standard = engine.dialect.create_connect_args(engine.url)
    return {name: value for name, value in given.items() if name not in standard or standard[name] != value}


def _has_listener(listeners: Any) -> bool:
    return any(getattr(listener, "__module__", None) == "__main__" for listener in listeners)


def open_engine(url: str, options: dict[str, Any] | None = None) -> Any:
    import sqlalchemy

    return sqlalchemy.create_engine(url, **(options or {}))


def reduced_duckdb(connection: Any) -> Reduced:
    path = next((row[2] for row in connection.cursor().execute("PRAGMA database_list").fetchall() if row[2]), None)
    if path is not None:
        connection.execute("CHECKPOINT")
        return load_duckdb, (os.path.abspath(path), {})
    return load_duckdb, (None, exported_duckdb(connection))


def exported_duckdb(connection: Any) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        connection.cursor().execute(f"EXPORT DATABASE '{folder}' (FORMAT parquet)")
        exported = {}
        for entry in os.scandir(folder):
            with open(entry.path, "rb") as file:
                exported[entry.name] = file.read()
        return exported


def load_duckdb(path: str | None, exported: dict[str, bytes]) -> Any:
    import duckdb

    connection = duckdb.connect(path or ":memory:")
    if exported:
        import_duckdb(connection, exported)
    return connection


def import_duckdb(connection: Any, exported: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in exported.items():
            # The script of the import names the folder of the export.
            with open(os.path.join(folder, os.path.basename(name)), "wb") as file:
                file.write(content)
        connection.execute(f"IMPORT DATABASE '{folder}'")


def default_duckdb() -> dict[str, bytes] | None:
    """The content of the connection that `duckdb.sql()` uses; None without tables. Raises ValueError for one that is too large."""
    duckdb = sys.modules.get("duckdb")
    if duckdb is None:
        return None
    connection = duckdb.default_connection()
    objects = "SELECT count(*) FROM (SELECT 1 FROM duckdb_tables() WHERE NOT internal UNION ALL SELECT 1 FROM duckdb_views() WHERE NOT internal)"
    if connection.cursor().execute(objects).fetchone()[0] == 0:
        return None
    exported = exported_duckdb(connection)
    if sum(map(len, exported.values())) > _MAX_DEFAULT_BYTES:
        raise ValueError(f"The tables of duckdb.sql() have more than {_MAX_DEFAULT_BYTES} bytes. Use a database file in /mnt/data to keep them.")
    return exported


def load_default_duckdb(exported: dict[str, bytes]) -> None:
    import duckdb

    import_duckdb(duckdb.default_connection(), exported)
