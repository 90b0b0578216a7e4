import { tmpdir } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { newId } from '../../model/ids.ts'
import { systemClock } from '../../ports/clock.ts'
import type { SandboxDriver } from '../../ports/sandbox-driver.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import { countStorage } from '../../operations/tenancy/meter-storage.ts'
import type { ReconcilerDeps } from '../../workers/deps.ts'
import { createPool, type Pool } from '../../workers/place/pool.ts'
import { createLocalSignals } from '../../adapters/storage/signals/local-signals.ts'
import { switchToBuiltImage, type BackgroundBuild } from './background-image.ts'
import { isKept, stageOf, type LocalConfig } from './config.ts'
import { checkDataFolder } from './data-folder.ts'
import { HostAdmission, readHostCapacity } from './host-admission.ts'
import { lockDataDir } from './lock-data-dir.ts'
import { lockTable } from './lock-table.ts'
import { openSandboxes, stopSandboxes, type LocalSandboxes } from './sandboxes.ts'
import type { Cleanups, Service, SharedParts } from './service.ts'
import type { LocalStorage } from './storage/local-storage.ts'
import { takeOverJobs } from './take-over-jobs.ts'
import { addProbes } from './telemetry/add-probes.ts'
import { openTelemetry, type LocalTelemetry } from './telemetry/open-telemetry.ts'
import { join } from 'node:path'
import { runInBackground } from './background-script.ts'

/** Opens the configured storage. Only its own modules are loaded: the AWS SDK takes 14 MB of memory. */
async function openLocalStorage(
  { storage, dataDir }: Pick<LocalConfig, 'storage' | 'dataDir'>,
  onError: (error: unknown) => void,
): Promise<LocalStorage> {
  if (storage.kind === 'aws') return (await import('./storage/open-aws-storage.ts')).openAwsStorage(storage)
  return (await import('./storage/open-embedded-storage.ts')).openEmbeddedStorage({ dataDir, onError })
}

const BUILD = join(import.meta.dirname, '../../../scripts/docs/build.ts')

/** Builds the documentation into `folder` after `after` has settled: two builds at once would slow down the first minutes. */
function buildGuide(
  folder: string,
  { after, say }: { readonly after: Promise<void>; readonly say: (line: string) => void },
): BackgroundBuild {
  const build = runInBackground(BUILD, [folder], { after })
  const report = async (): Promise<void> => {
    const { isGood, wasStopped, seconds, lastStep } = await build.ended
    if (wasStopped) return
    if (isGood) say(`✓ The documentation is at /docs/guide/ (built in ${seconds} s).`)
    else say(`✗ The documentation could not be built: ${lastStep} Try again with npm run docs:build, or read the folder docs/.`)
  }
  return { ended: report().catch(() => undefined), stop: () => build.stop() }
}

export interface LocalServer extends Service {
  /** Resolves when the pool has been filled for the first time. */
  readonly warm: Promise<void>
  /** The rows, for a process that contains the server. */
  readonly items: LocalStorage['items']
  /** Ends everything that was started: requests, workers, sandboxes, storage. */
  stop(): Promise<void>
}

/** The whole service in one process: storage, every worker, the API, and sandboxes. */
export async function startLocalServer(config: LocalConfig): Promise<LocalServer> {
  const cleanups: Cleanups = []
  // A part that fails to end does not keep the others, such as the sandboxes.
  const stop = async (): Promise<void> => {
    const failures: unknown[] = []
    for (const cleanup of cleanups.splice(0).toReversed())
      try {
        await cleanup()
      } catch (error) {
        failures.push(error)
      }
    if (failures.length > 0) throw failures[0]
  }
  try {
    return { ...(await start(config, cleanups)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(config: LocalConfig, cleanups: Cleanups): Promise<Omit<LocalServer, 'stop'>> {
  const telemetry = await openTelemetry(config)
  cleanups.push(() => telemetry.close())
  const storage = await openStorage(config, telemetry, cleanups)
  const sandboxes = await openSandboxes(config, stageOf(storageName(config)))
  cleanups.push(() => sandboxes.close())
  // The lock of the data folder or of the table proves that every lease holder is dead.
  if (isKept(config)) await takeOverJobs(storage.table, systemClock.now())
  const parts = shareParts({ config, storage, sandboxes, telemetry })
  const pool = createPool(parts.placing)
  cleanups.push(() => stopAll(sandboxes.driver, { pool, keepsSuspended: isKept(config) }))
  const warm = pool.refill()
  // Loading the other modules blocks this process for a third of a second: the request to run the first sandbox leaves before.
  await Promise.race([sandboxes.firstRun, warm])
  await nextTurn()
  const { openService } = await import('./service.ts')
  const service = await openService({ ...parts, config, sandboxes, storage, pool, telemetry }, cleanups)
  cleanups.push(startBuilds(config, { sandboxes, pool, warm }))
  return { ...service, warm, items: storage.items }
}

/** What the pool and the service share. */
function shareParts({
  config,
  storage,
  sandboxes: { driver, costPerSecond },
  telemetry,
}: {
  readonly config: LocalConfig
  readonly storage: LocalStorage
  readonly sandboxes: LocalSandboxes
  readonly telemetry: LocalTelemetry
}): SharedParts {
  const { table, queue, objects } = storage
  const common = { table, queue, objects, signals: createLocalSignals(), clock: systemClock, telemetry }
  const folder = config.dataDir ?? tmpdir()
  addProbes(telemetry.metrics, storage, folder)
  const admission = new HostAdmission({
    capacity: () => readHostCapacity(folder),
    reserveBytes: config.reserveBytes,
    clock: systemClock,
    telemetry,
  })
  const placing: ReconcilerDeps = {
    ...countStorage(common),
    driver,
    admission,
    costPerSecond,
    poolSizes: { '1g': config.poolSize },
    poolCeilings: { '1g': config.poolCeiling },
    imagePoolSizes: config.imagePools,
    maxStarts: 2,
    workerId: newId('worker'),
    hibernateAfterMs: config.hibernateAfterMs,
  }
  return { common, admission, placing }
}

/** Stops every sandbox. A start that was under way while the first pass listed them may have added one. */
async function stopAll(
  driver: SandboxDriver,
  { pool, keepsSuspended }: { readonly pool: Pool; readonly keepsSuspended: boolean },
): Promise<void> {
  const closed = pool.close()
  await stopSandboxes(driver, { keepsSuspended })
  await closed
  await stopSandboxes(driver, { keepsSuspended })
}

/** Builds what `npm start` found missing while the server works, once the pool is `warm`: the image, then the documentation. Returns a function that ends the builds. */
function startBuilds(
  { buildImage, buildsGuide, guideDir }: LocalConfig,
  { sandboxes: { driver }, pool, warm }: { readonly sandboxes: LocalSandboxes; readonly pool: Pool; readonly warm: Promise<void> },
): () => void {
  const say = (line: string): void => console.error(line)
  const refill = (): Promise<void> => pool.refill()
  const image = buildImage === null ? null : switchToBuiltImage(buildImage, { images: driver.images, after: warm, refill, say })
  const guide = buildsGuide && guideDir !== null ? buildGuide(guideDir, { after: image?.ended ?? warm, say }) : null
  return () => {
    guide?.stop()
    image?.stop()
  }
}

/** The process's handler of uncaught errors prints the message and exits. */
function endProcess(error: Error): void {
  setImmediate(() => {
    throw error
  })
}

const storageName = ({ storage, dataDir }: LocalConfig): string =>
  storage.kind === 'aws' ? `aws:${storage.tableName}` : (dataDir ?? newId('worker'))

async function openStorage(config: LocalConfig, telemetry: Telemetry, cleanups: Cleanups): Promise<LocalStorage> {
  const { dataDir } = config
  const onError = (error: unknown): void => telemetry.emit({ event: 'storage', outcome: 'error', detail: String(error) })
  if (dataDir !== null) {
    const lock = await lockDataDir(dataDir)
    cleanups.push(() => lock.release())
    const note = await checkDataFolder(dataDir)
    if (note !== null) telemetry.emit({ event: 'storage', outcome: 'ok', detail: note })
  }
  const storage = await openLocalStorage(config, onError)
  cleanups.push(() => storage.close())
  if (config.storage.kind === 'aws') {
    const lock = await lockTable({ items: storage.items, tableName: config.storage.tableName, onLost: endProcess, onError })
    cleanups.push(() => lock.release())
  }
  return storage
}
