import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { stageOf } from '../../services/entries/local/config.ts'

/** Where servers of one test keep their state. The same `dataDir` names the same state again. */
export interface ServerStorage {
  readonly dataDir: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly stage: string
  remove(): Promise<void>
}

const EMULATORS = join(import.meta.dirname, '../emulators/emulators-child.ts')
/** Emulators of an AWS account live as long as the test process, so that a server can be restarted on them. */
const accounts = new Map<string, Promise<Readonly<Record<string, string>>>>()

/** The embedded storage in a data folder; with CELLBLOCK_STORAGE=aws in the environment of the tests, an emulated AWS account for each folder name. */
export async function serverStorage(wanted: string | undefined): Promise<ServerStorage> {
  const dataDir = wanted ?? (await mkdtemp(join(tmpdir(), 'cellblock-test-')))
  const remove = (): Promise<void> => rm(dataDir, { recursive: true, force: true })
  if (process.env['CELLBLOCK_STORAGE'] !== 'aws') return { dataDir, args: ['--data', dataDir], env: {}, stage: stageOf(dataDir), remove }
  const account = accounts.get(dataDir) ?? startAccount()
  accounts.set(dataDir, account)
  const env = await account
  return { dataDir, args: [], env, stage: stageOf(`aws:${env['TABLE_NAME']}`), remove }
}

async function startAccount(): Promise<Readonly<Record<string, string>>> {
  const child = fork(EMULATORS, [], { execArgv: ['--disable-warning=ExperimentalWarning'], stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  if (child.stdout === null) throw new Error('The emulators have no standard output.')
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  child.unref()
  child.channel?.unref()
  return JSON.parse(line) as Readonly<Record<string, string>>
}
