import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Agent, fetch as fetchThrough } from 'undici'
import { createApiClient, type Send } from '../../packages/cli/src/api-client.ts'
import { CliError } from '../../packages/cli/src/errors.ts'
import type { createAdministration } from '../../services/entries/api/administration.ts'
import type { CliConfig } from './config.ts'
import { chooseLocalServer, type LocalServer } from './local-servers.ts'
import { NO_OBJECTS, NO_QUEUE } from './rows-only.ts'

/** The API with an implicit administrator. */
export interface Administration {
  readonly send: Send
  /** Copies rows and objects into a new folder. Throws CliError when they are in AWS. */
  backUp(folder: string): Promise<void>
  close(): Promise<void>
}

/**
 * The API of a running server through its control socket, or the API in this process: over a table in AWS when one is named, over a data folder
 * under its lock when no server runs on it. The files of a running server are never opened.
 */
export async function openAdministration(
  config: Pick<CliConfig, 'tableName' | 'region' | 'port' | 'folder'> & { readonly dataDir: string | null },
  servers: readonly LocalServer[],
): Promise<Administration> {
  if (config.tableName !== null) return inAws(config.tableName, config.region)
  if (config.dataDir === null) return ofServer(chooseLocalServer(servers, config.port))
  const dataDir = resolve(config.folder, config.dataDir)
  const running = servers.find((server) => server.dataDir === dataDir)
  return running === undefined ? ofFolder(dataDir) : ofServer(running)
}

function ofServer({ controlSocket }: LocalServer): Administration {
  const dispatcher = new Agent({ connect: { socketPath: controlSocket } })
  const send: Send = (path, init) =>
    (fetchThrough(`http://localhost${path}`, { ...init, dispatcher } as never) as unknown as Promise<Response>).catch((cause: unknown) => {
      throw new CliError('The local server does not answer on its control socket. Check that it runs and that you are the same user.', {
        cause,
      })
    })
  return {
    send,
    backUp: async (folder) => void (await createApiClient(send).call('POST', '/backup', { folder })),
    close: () => dispatcher.close(),
  }
}

type Ports = Pick<Parameters<typeof createAdministration>[0], 'table' | 'objects' | 'queue'>

/** The API in this process. It is loaded with the first request: a backup needs none. */
function inProcess(ports: Ports, platform: 'docker' | 'fargate'): Send {
  let administer: ReturnType<typeof loadAdministration> | null = null
  return async (path, init) => (await (administer ??= loadAdministration(ports, platform)))(new Request(`http://localhost${path}`, init))
}

async function loadAdministration(ports: Ports, platform: 'docker' | 'fargate'): Promise<ReturnType<typeof createAdministration>> {
  const [{ createAdministration }, { createLocalSignals }, { DRIVERS }, { systemClock }] = await Promise.all([
    import('../../services/entries/api/administration.ts'),
    import('../../services/adapters/storage/signals/local-signals.ts'),
    import('../../services/adapters/drivers/registry.ts'),
    import('../../services/ports/clock.ts'),
  ])
  return createAdministration({
    ...ports,
    signals: createLocalSignals(),
    clock: systemClock,
    telemetry: { emit: () => undefined },
    // Only the server knows its images; it refuses one that it does not offer when a container is created.
    images: { defaultName: 'slim', names: [], has: () => true, resolve: (name) => ({ name: name ?? 'slim', reference: '' }) },
    prices: DRIVERS[platform].prices,
  })
}

async function inAws(tableName: string, region: string | null): Promise<Administration> {
  const [{ DynamoDBClient }, { createDynamoTable }] = await Promise.all([
    import('@aws-sdk/client-dynamodb'),
    import('../../services/adapters/storage/dynamodb/dynamo-table.ts'),
  ])
  const client = new DynamoDBClient(region === null ? {} : { region })
  const table = createDynamoTable({ client, tableName, objects: NO_OBJECTS })
  return {
    send: inProcess({ table, objects: NO_OBJECTS, queue: NO_QUEUE }, 'fargate'),
    backUp: () => Promise.reject(new CliError('The table is in AWS. Use its point-in-time recovery, and copy the bucket.')),
    close: async () => client.destroy(),
  }
}

async function ofFolder(dataDir: string): Promise<Administration> {
  if (!(await stat(dataDir).catch(() => null))?.isDirectory())
    throw new CliError(`The data folder ${dataDir} does not exist. Check --data, or start a server with it: npm start -- --data ${dataDir}`)
  const [{ ConfigError }, { checkDataFolder }, { lockDataDir }, { openEmbeddedStorage }] = await Promise.all([
    import('../../services/entries/local/config.ts'),
    import('../../services/entries/local/data-folder.ts'),
    import('../../services/entries/local/lock-data-dir.ts'),
    import('../../services/entries/local/storage/open-embedded-storage.ts'),
  ])
  const explained = <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => {
      throw error instanceof ConfigError ? new CliError(error.message, { cause: error }) : error
    })
  const lock = await explained(lockDataDir(dataDir))
  try {
    await explained(checkDataFolder(dataDir))
    const storage = await openEmbeddedStorage({ dataDir, onError: () => undefined })
    return {
      send: inProcess(storage, 'docker'),
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
