import type { DatabaseSync } from 'node:sqlite'

/**
 * Each entry moves the schema one version up; `PRAGMA user_version` counts the entries that a file has. Never change a released entry.
 * `attributes` is the whole item as JSON. The other columns repeat the attributes that indexes and expiry need, and are null otherwise,
 * so that a row without `dueAt` is in no `due` index.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE items (
     pk TEXT NOT NULL,
     sk TEXT NOT NULL,
     lpk TEXT,
     lsk TEXT,
     name TEXT,
     dueShard TEXT,
     dueAt INTEGER,
     poolPk TEXT,
     poolSk TEXT,
     ttl INTEGER,
     attributes TEXT NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX items_key ON items (pk, sk);
   CREATE INDEX items_list ON items (lpk, lsk, pk, sk) WHERE lpk IS NOT NULL AND lsk IS NOT NULL;
   CREATE INDEX items_due ON items (dueShard, dueAt, pk, sk) WHERE dueShard IS NOT NULL AND dueAt IS NOT NULL;
   CREATE INDEX items_pool ON items (poolPk, poolSk, pk, sk) WHERE poolPk IS NOT NULL AND poolSk IS NOT NULL;
   CREATE INDEX items_ttl ON items (ttl) WHERE ttl IS NOT NULL;`,
]

/** Marks the file as Cellblock's: "CBLK" as a number. */
const APPLICATION_ID = 0x43_42_4c_4b

/** Thrown for a file that this version cannot use; the message says why and what to do. */
export class SchemaError extends Error {}

/** Brings the file to the present schema in one transaction. Throws SchemaError and changes nothing when it belongs to another program or a later version. */
export function migrate(database: DatabaseSync): void {
  const version = pragma(database, 'user_version')
  const owner = pragma(database, 'application_id')
  if (owner !== APPLICATION_ID && (owner !== 0 || version !== 0))
    throw new SchemaError('The database file in the data folder was not written by Cellblock. Choose another folder.')
  if (version > MIGRATIONS.length)
    throw new SchemaError(
      `The data folder has schema version ${version}, and this program knows versions up to ${MIGRATIONS.length}. Start the newer version of Cellblock that wrote it.`,
    )
  if (version === MIGRATIONS.length) return
  database.exec('BEGIN IMMEDIATE')
  for (const statement of MIGRATIONS.slice(version)) database.exec(statement)
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`)
}

const pragma = (database: DatabaseSync, name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name])
