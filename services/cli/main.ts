// The command line for operators. Run it with `npm run cli -- COMMAND`.
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { join } from 'node:path'
import { systemClock } from '../core/ports/clock.ts'
import type { Table } from '../core/ports/table.ts'
import { createDynamoTable } from '../storage/dynamodb/dynamo-table.ts'
import { createApiClient } from './api-client.ts'
import { CommandError, type CliDeps } from './command.ts'
import { readCliConfig, type CliConfig } from './config.ts'
import { chooseLocalServer, listLocalServers } from './local-servers.ts'
import { NO_OBJECTS, NO_QUEUE } from './rows-only.ts'
import { runCommand } from './run-command.ts'
import { takeOption } from './take-option.ts'

const NOTES = join(import.meta.dirname, '../../.cellblock/servers')
const stop = new AbortController()
process.once('SIGINT', () => stop.abort())

try {
  process.exitCode = await start()
} catch (error) {
  process.stderr.write(`${error instanceof CommandError ? error.message : `The command failed: ${String(error)}`}\n`)
  process.exitCode = 1
}

async function start(): Promise<number> {
  const { value: tableOption, rest } = takeOption(process.argv.slice(2), 'table')
  const config = readCliConfig()
  const tableName = tableOption ?? config.tableName
  const openTable = async (): Promise<Table> =>
    tableName === null ? localTable(config) : tableOf(tableName, config.region === null ? {} : { region: config.region })
  const deps: CliDeps = {
    tenants: async () => (await openTable()).tenants,
    table: openTable,
    queue: NO_QUEUE,
    async api() {
      if (config.apiKey === null)
        throw new CommandError('CELLBLOCK_API_KEY is not set. `npm start` prints a key, and `tenants create NAME` makes one.')
      return createApiClient(config.url ?? (await localUrl(config)), config.apiKey)
    },
    clock: systemClock,
    folder: config.folder,
    signal: stop.signal,
    out: (text) => process.stdout.write(text),
    note: (text) => process.stderr.write(text),
  }
  return runCommand(rest, deps)
}

function tableOf(tableName: string, client: DynamoDBClientConfig): Table {
  return createDynamoTable({ client: new DynamoDBClient(client), tableName, objects: NO_OBJECTS })
}

async function localTable({ port }: CliConfig): Promise<Table> {
  const server = chooseLocalServer(await listLocalServers(NOTES), port)
  // The emulator takes any credentials.
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  return tableOf(server.tableName, { endpoint: server.dynamodbEndpoint, region: 'us-east-1', credentials })
}

async function localUrl({ port }: CliConfig): Promise<string> {
  const servers = await listLocalServers(NOTES)
  return servers.length === 0 ? `http://127.0.0.1:${port ?? 8787}` : chooseLocalServer(servers, port).url
}
