# %% sqlite3 database file
#| file: app.db
#| stdout: [('Ada', 36)]
import sqlite3
with sqlite3.connect("/mnt/data/app.db") as db:
    db.execute("create table people (name text, age int)"); db.executemany("insert into people values (?, ?)", [("Ada", 36), ("Al", 20)])
    print(db.execute("select * from people where age > ?", (30,)).fetchall())

# %% pandas with sqlite
#| stdout: 2
import pandas as pd, sqlite3
db = sqlite3.connect(":memory:"); pd.DataFrame({"a": [1, 2]}).to_sql("t", db, index=False); print(len(pd.read_sql("select * from t", db)))

# %% SQLAlchemy ORM
#| image: standard
#| stdout: Ada
from sqlalchemy import String, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
class Base(DeclarativeBase): pass
class User(Base):
    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(30))
engine = create_engine("sqlite:////mnt/data/orm.db"); Base.metadata.create_all(engine)
with Session(engine) as session:
    session.add(User(name="Ada")); session.commit(); print(session.scalars(select(User)).one().name)

# %% pandas to_sql with an engine
#| image: standard
#| stdout: 3
import pandas as pd
from sqlalchemy import create_engine, text
engine = create_engine("sqlite://"); pd.DataFrame({"v": [1, 2]}).to_sql("t", engine, index=False)
print(pd.read_sql(text("select sum(v) s from t"), engine)["s"][0])

# %% sqlite3 command
#| image: standard
#| stdout: 7
!sqlite3 /tmp/x.db "create table t(v); insert into t values (3), (4); select sum(v) from t;"

# %% full text search and window functions in sqlite
#| stdout: 3
import sqlite3
db = sqlite3.connect(":memory:"); db.execute("create virtual table d using fts5(body)"); db.execute("insert into d values ('hello world')")
assert db.execute("select * from d where d match 'hello'").fetchone()
print(db.execute("select sum(v) over (order by v) from (select 1 v union select 2)").fetchall()[-1][0])

# %% pydantic models validate
#| image: standard
#| stdout: age
from pydantic import BaseModel, Field, ValidationError
class User(BaseModel):
    name: str
    age: int = Field(ge=0)
try:
    User(name="a", age=-1)
except ValidationError as error:
    print(error.errors()[0]["loc"][0])

# %% dataclasses, enums and JSON
#| stdout: {"kind": "a", "n": 1}
import json
from dataclasses import asdict, dataclass
from enum import StrEnum
class Kind(StrEnum): A = "a"
@dataclass
class Row: kind: Kind; n: int
print(json.dumps(asdict(Row(Kind.A, 1))))

# %% fast JSON with orjson and JSON lines
#| image: standard
#| stdout: 2
import orjson, pandas as pd
open("/mnt/data/x.jsonl", "wb").write(b"\n".join(orjson.dumps({"i": i}) for i in range(2))); print(len(pd.read_json("/mnt/data/x.jsonl", lines=True)))

# %% duckdb reads parquet and JSON
#| image: standard
#| stdout: (3,)
import duckdb
duckdb.sql("copy (select range i from range(3)) to '/mnt/data/r.parquet'"); print(duckdb.sql("select count(*) from '/mnt/data/r.parquet'").fetchone())

# %% an open database leaves no files beside it
#| files-only: sales.db
import sqlite3
db = sqlite3.connect("/mnt/data/sales.db")
db.execute("create table t (v)"); db.commit(); db.execute("insert into t values (1)")
