"""Connections to databases survive a snapshot with their settings; what cannot be read back from them is named."""

import os
import pickle
import sqlite3
import tempfile
import threading
import unittest

from cellblock_supervisor.worker.snapshot.values import databases, sqlite_connections

from .carry import carry

try:
    import sqlalchemy
except ImportError:
    sqlalchemy = None  # type: ignore[assignment]
try:
    import duckdb
except ImportError:
    duckdb = None  # type: ignore[assignment]


class DatabasesTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "rows.db")

    def _opened(self, path: str, **options: object) -> sqlite3.Connection:
        connection = sqlite3.connect(path, **options)  # type: ignore[call-overload]
        self.addCleanup(connection.close)
        return connection

    def _carried(self, connection: sqlite3.Connection) -> tuple[sqlite3.Connection, dict[str, str]]:
        kept, lost = carry({"db": connection})
        again = kept["db"]
        assert isinstance(again, sqlite3.Connection), lost
        self.addCleanup(again.close)
        return again, lost

    def test_settings_of_sqlite_are_restored(self) -> None:
        for path in (self.path, ":memory:"):
            with self.subTest(path=path):
                connection = self._opened(path, check_same_thread=False, timeout=3, detect_types=sqlite3.PARSE_DECLTYPES)
                connection.execute("create table t (x)")
                connection.execute("PRAGMA foreign_keys = on")
                connection.execute("PRAGMA cache_size = -777")
                again, lost = self._carried(connection)
                self.assertEqual(lost, {})
                values = [again.execute(f"PRAGMA {name}").fetchone()[0] for name in ("foreign_keys", "cache_size", "busy_timeout")]
                self.assertEqual(values, [1, -777, 3000])
                self.assertEqual(sqlite_connections._detected_types(again), sqlite3.PARSE_DECLTYPES)
                rows: list[object] = []
                thread = threading.Thread(target=lambda: rows.append(again.execute("select count(*) from t").fetchone()[0]))
                thread.start()
                thread.join()
                self.assertEqual(rows, [0])

    def test_a_connection_of_one_thread_stays_one(self) -> None:
        again, _ = self._carried(self._opened(self.path))
        self.assertTrue(sqlite_connections._is_bound_to_its_thread(again))

    def test_a_connection_for_reading_stays_one(self) -> None:
        self._opened(self.path).execute("create table t (x)")
        again, lost = self._carried(self._opened(f"file:{self.path}?mode=ro", uri=True))
        self.assertEqual(lost, {})
        self.assertEqual(again.execute("select * from t").fetchall(), [])
        self.assertRaisesRegex(sqlite3.OperationalError, "readonly", again.execute, "insert into t values (1)")
        self._carried(self._opened(self.path))[0].execute("insert into t values (1)")

    def test_attached_databases_are_restored(self) -> None:
        connection = self._opened(":memory:")
        connection.execute("ATTACH ? AS side", (self.path,))
        connection.execute("ATTACH ':memory:' AS notes")
        for name in ("side", "notes"):
            connection.execute(f"create table {name}.t (x)")
            connection.execute(f"insert into {name}.t values ('{name}')")
        connection.commit()
        again, lost = self._carried(connection)
        self.assertEqual(lost, {})
        self.assertEqual(again.execute("select x from side.t union select x from notes.t").fetchall(), [("notes",), ("side",)])

    def test_functions_collations_and_temporary_tables_are_named(self) -> None:
        connection = self._opened(self.path)
        connection.create_function("half", 1, lambda value: value / 2)
        connection.create_collation("backwards", lambda one, other: (one < other) - (one > other))
        connection.execute("create temp table scratch (x)")
        _, lost = self._carried(connection)
        self.assertEqual(sorted(lost), ["SQL collations of db", "SQL functions of db", "temporary tables of db"])
        self.assertTrue(lost["SQL functions of db"].endswith(": half"))
        self.assertTrue(lost["temporary tables of db"].endswith(": scratch"))


# The image slim has neither library; these tests are defined in the others.
if sqlalchemy is not None:

    class EngineTest(unittest.TestCase):
        def test_options_of_an_engine_are_restored(self) -> None:
            folder = tempfile.TemporaryDirectory()
            self.addCleanup(folder.cleanup)
            engine = sqlalchemy.create_engine(
                f"sqlite:///{folder.name}/rows.db", echo=False, pool_pre_ping=True, pool_size=3, isolation_level="AUTOCOMMIT", connect_args={"timeout": 7}
            )
            reduced, arguments = pickle.loads(pickle.dumps(databases.reduced_engine(engine)))
            again = reduced(*arguments)
            with again.connect() as connection:
                self.assertEqual(connection.exec_driver_sql("PRAGMA busy_timeout").scalar(), 7000)
                self.assertIsNone(connection.connection.dbapi_connection.isolation_level)
            self.assertEqual((again.pool._pre_ping, again.pool.size()), (True, 3))
            again.dispose()


if duckdb is not None:

    class DefaultDuckdbTest(unittest.TestCase):
        def test_tables_of_the_default_connection_of_duckdb_are_restored(self) -> None:
            duckdb.sql("create table t as select 42 as answer")
            exported = databases.default_duckdb()
            assert exported is not None
            duckdb.sql("drop table t")
            self.assertIsNone(databases.default_duckdb())
            databases.load_default_duckdb(exported)
            self.assertEqual(duckdb.sql("select answer from t").fetchall(), [(42,)])
