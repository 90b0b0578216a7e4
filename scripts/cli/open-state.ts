import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Table } from '../../services/ports/table.ts'
import { ConfigError } from '../../services/entries/local/config.ts'
import { checkDataFolder } from '../../services/entries/local/data-folder.ts'
import { lockDataDir } from '../../services/entries/local/lock-data-dir.ts'
import { openEmbeddedStorage } from '../../services/entries/local/storage/open-embedded-storage.ts'
import { createTable } from '../../services/adapters/storage/rows/table.ts'
import { CommandError } from './command.ts'
import type { CliConfig } from './config.ts'
import { createControlClient } from './control-client.ts'
import { chooseLocalServer, type LocalServer } from './local-servers.ts'
import { NO_OBJECTS } from './rows-only.ts'

/** The rows that the commands work on. */
export interface State {
  readonly table: Table
  /** Copies rows and objects into a new folder. Throws CommandError when they are in AWS. */
  backUp(folder: string): Promise<void>
  close(): Promise<void>
}

/**
 * A table in AWS when one is named, else the storage of a running server through its control socket, else the data folder itself under its
 * lock. The files of a running server are never opened.
 */
export async function openState(
  config: Pick<CliConfig, 'tableName' | 'region' | 'dataDir' | 'port' | 'folder'>,
  servers: readonly LocalServer[],
): Promise<State> {
  if (config.tableName !== null) return inAws(config.tableName, config.region)
  if (config.dataDir === null) return ofServer(chooseLocalServer(servers, config.port))
  const dataDir = resolve(config.folder, config.dataDir)
  const running = servers.find((server) => server.dataDir === dataDir)
  return running === undefined ? ofFolder(dataDir) : ofServer(running)
}

/** The AWS SDK is loaded here only, because loading it takes longer than most commands. */
async function inAws(tableName: string, region: string | null): Promise<State> {
  const [{ DynamoDBClient }, { createDynamoTable }] = await Promise.all([
    import('@aws-sdk/client-dynamodb'),
    import('../../services/adapters/storage/dynamodb/dynamo-table.ts'),
  ])
  const client = new DynamoDBClient(region === null ? {} : { region })
  return {
    table: createDynamoTable({ client, tableName, objects: NO_OBJECTS }),
    backUp: () => Promise.reject(new CommandError('The table is in AWS. Use its point-in-time recovery, and copy the bucket.')),
    close: async () => client.destroy(),
  }
}

function ofServer({ controlSocket }: LocalServer): State {
  const control = createControlClient(controlSocket)
  return { table: createTable(control.items, NO_OBJECTS), backUp: (folder) => control.backUp(folder), close: async () => undefined }
}

async function ofFolder(dataDir: string): Promise<State> {
  if (!(await stat(dataDir).catch(() => null))?.isDirectory())
    throw new CommandError(
      `The data folder ${dataDir} does not exist. Check --data, or start a server with it: npm start -- --data ${dataDir}`,
    )
  const lock = await explained(lockDataDir(dataDir))
  try {
    await explained(checkDataFolder(dataDir))
    const storage = await openEmbeddedStorage({ dataDir, onError: () => undefined })
    return {
      table: storage.table,
      backUp: async (folder) => storage.backUp?.(folder),
      async close() {
        await storage.close()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

const explained = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw error instanceof ConfigError ? new CommandError(error.message, { cause: error }) : error
  })
