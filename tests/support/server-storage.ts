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
/** Emulators of an AWS account live as long as the test process, so that a server can be restarted on them, or until their storage is removed. */
const accounts = new Map<string, Promise<Account>>()

interface Account {
  readonly env: Readonly<Record<string, string>>
  readonly end: () => void
}

/** The embedded storage in a data folder; with CELLBLOCK_STORAGE=aws in the environment of the tests, an emulated AWS account for each folder name. */
export async function serverStorage(wanted: string | undefined): Promise<ServerStorage> {
  const dataDir = wanted ?? (await mkdtemp(join(tmpdir(), 'cellblock-test-')))
  const removeFolder = (): Promise<void> => rm(dataDir, { recursive: true, force: true })
  if (process.env['CELLBLOCK_STORAGE'] !== 'aws')
    return { dataDir, args: ['--data', dataDir], env: {}, stage: stageOf(dataDir), remove: removeFolder }
  const account = accounts.get(dataDir) ?? startAccount()
  accounts.set(dataDir, account)
  const { env, end } = await account
  const remove = (): Promise<void> => (end(), accounts.delete(dataDir), removeFolder())
  return { dataDir, args: [], env, stage: stageOf(`aws:${env['TABLE_NAME']}`), remove }
}

async function startAccount(): Promise<Account> {
  const child = fork(EMULATORS, [], { execArgv: ['--disable-warning=ExperimentalWarning'], stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  if (child.stdout === null) throw new Error('The emulators have no standard output.')
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  child.unref()
  child.channel?.unref()
  return { env: JSON.parse(line) as Account['env'], end: () => void child.kill() }
}
