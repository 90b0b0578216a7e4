import { execFile } from 'node:child_process'
import { link, mkdir, readdir, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DriverError } from '../../../ports/sandbox-driver.ts'

const run = promisify(execFile)

/** The program that is registered as the engine's runtime resumes what it finds below this folder (scripts/setup/gvisor/resuming-runsc.sh). */
const CHECKPOINT_ROOT = '/var/lib/cellblock/checkpoints'
/** What a start of the engine's container resumes. */
const NEXT_START = 'next-start'
/** Names the last checkpoint that was used: a late repetition of its request writes no second one. */
const USED = 'used'
/** The runtime's mark: the creation of the container restored it, so its start has nothing to do. */
const RESUMED = 'resumed'
/** Names the engine whose container it is: engines of one machine share the folder above. */
const ENGINE = 'engine'
/** The end of the name of what is not complete, or not any more. */
const PARTIAL = '.partial'
const MARKS: readonly string[] = [USED, RESUMED, ENGINE]
const DESCRIPTION = 'cellblock.json'
const BOOT_ID = '/proc/sys/kernel/random/boot_id'
/** `--exec-root` of the engine: it keeps the state of a runtime's containers in `<this>/runtime-<name>/moby`. */
const ENGINE_STATE = '/run/docker'
/** Writing takes about a second per GB. */
const WRITE_TIMEOUT_MS = 60_000

export interface CheckpointOptions {
  /** The data folder of the engine, which no other engine of the machine has (`DockerRootDir` of `GET /info`). */
  readonly engine: string
  /** The program that is registered as the engine's runtime, and its arguments. */
  readonly program: string
  readonly args: readonly string[]
  readonly root?: string | undefined
  readonly engineState?: string | undefined
}

/** Who the supervisor is when it continues from the checkpoint of another sandbox (runtime-image/PROTOCOL.md). */
export interface CheckpointIdentity {
  readonly sandbox_id: string
  readonly public_key: string
}

/** What makes a checkpoint readable: the same build of the runtime, and the same boot of the host, whose page cache may hold it. */
interface Description {
  readonly program: string
  readonly bootId: string
  /** Of a checkpoint that was copied for another sandbox. */
  readonly identity?: CheckpointIdentity
}

/** The checkpoints of the engine's containers, by the engine's ids. Each is a folder; it appears complete, and is renamed when it is used. */
export class Checkpoints {
  readonly #options: CheckpointOptions
  readonly #root: string

  constructor(options: CheckpointOptions) {
    this.#options = options
    this.#root = options.root ?? CHECKPOINT_ROOT
  }

  /** Makes the empty folder for `write`. Throws DriverError `capacity` unless the disk has this much space, twice. */
  async prepare(containerId: string, { checkpointId, bytes }: { readonly checkpointId: string; readonly bytes: number }): Promise<void> {
    await this.#makeFolder(containerId, checkpointId)
    const { bavail, bsize } = await statfs(this.#root)
    if (bavail * bsize < 2 * bytes)
      throw new DriverError('capacity', `${this.#root} has no space for another checkpoint. Free some, or give the folder a larger disk.`)
  }

  /** Writes the processes of a running container and ends them. A failure ends them too. */
  async write(containerId: string, checkpointId: string): Promise<void> {
    const folder = this.#folder(containerId)
    const partial = join(folder, `${checkpointId}${PARTIAL}`)
    const { program, args } = this.#options
    const stateRoot = await this.#stateRootOf(containerId)
    await run(program, [...args, '--root', stateRoot, 'checkpoint', '--image-path', partial, containerId], { timeout: WRITE_TIMEOUT_MS })
    await writeFile(join(partial, DESCRIPTION), JSON.stringify(await this.#describe()))
    await rename(partial, join(folder, checkpointId))
  }

  /** Gives another container the same checkpoint: the files have a second name, so nothing is written. Throws DriverError without a checkpoint. */
  async copy(
    from: { readonly containerId: string; readonly checkpointId: string },
    to: { readonly containerId: string; readonly identity: CheckpointIdentity },
  ): Promise<void> {
    const { checkpointId } = from
    const source = join(this.#folder(from.containerId), checkpointId)
    const folder = this.#folder(to.containerId)
    const partial = await this.#makeFolder(to.containerId, checkpointId)
    try {
      const names = (await readdir(source)).filter((name) => name !== DESCRIPTION)
      await Promise.all(names.map((name) => link(join(source, name), join(partial, name))))
      const description: Description = { ...(await this.#describe()), identity: to.identity }
      await writeFile(join(partial, DESCRIPTION), JSON.stringify(description))
      // Last: a source that was resumed meanwhile may have lost some of its files.
      if ((await this.#faultOf(source)) !== null) throw new Error('It was resumed meanwhile.')
      await rename(partial, join(folder, checkpointId))
    } catch (cause) {
      await rm(folder, { recursive: true, force: true })
      throw new DriverError('unavailable', 'The checkpoint cannot be copied: its sandbox has no complete one any more.', { cause })
    }
  }

  /** The size of a checkpoint that can be used; null without one. */
  async bytesOf(containerId: string, checkpointId: string): Promise<number | null> {
    const folder = join(this.#folder(containerId), checkpointId)
    const names = await readdir(folder).catch(() => null)
    if (names === null) return null
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size))
    return sizes.reduce((sum, size) => sum + size, 0)
  }

  /** Whether a container has one that can be used. One that has not ended may just resume what was renamed. */
  async has(containerId: string, { hasEnded }: { readonly hasEnded: boolean }): Promise<boolean> {
    const folder = this.#folder(containerId)
    const names = await readdir(folder).catch((): string[] => [])
    const name = names.find((found) => !MARKS.includes(found) && !found.endsWith(PARTIAL) && (hasEnded || found !== NEXT_START))
    return name !== undefined && (await this.#faultOf(join(folder, name))) === null
  }

  wasUsed = async (containerId: string, checkpointId: string): Promise<boolean> =>
    (await readFile(join(this.#folder(containerId), USED), 'utf8').catch(() => '')) === checkpointId

  /** Makes the next start of the container resume this checkpoint. Resolves with the identity in it. Throws DriverError when it cannot be used. */
  async use(containerId: string, checkpointId: string): Promise<CheckpointIdentity | undefined> {
    const folder = this.#folder(containerId)
    const next = join(folder, NEXT_START)
    // An earlier call was interrupted between this and the start.
    if (!(await exists(next))) {
      await writeFile(join(folder, USED), checkpointId).catch(() => undefined)
      await rename(join(folder, checkpointId), next).catch((cause: unknown) => {
        throw new DriverError('unavailable', 'The checkpoint of the processes no longer exists.', { cause })
      })
    }
    const fault = await this.#faultOf(next)
    if (fault !== null) throw new DriverError('unavailable', fault)
    return (JSON.parse(await readFile(join(next, DESCRIPTION), 'utf8')) as Description).identity
  }

  /** Removes what a start has resumed. Its bytes follow later: they may be many, and what removes the container removes them too. */
  async forget(containerId: string): Promise<void> {
    const folder = this.#folder(containerId)
    const rest = join(folder, `${NEXT_START}${PARTIAL}`)
    await rm(rest, { recursive: true, force: true })
    await rename(join(folder, NEXT_START), rest).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    void rm(rest, { recursive: true, force: true }).catch(() => undefined)
  }

  /** Removes what containers of this engine left that it does not have any more. */
  async removeOthers(listContainers: () => Promise<readonly string[]>): Promise<void> {
    // Read first: a container that comes later is not among them.
    const names = await readdir(this.#root).catch((): string[] => [])
    const known = new Set(names.length === 0 ? [] : await listContainers())
    await Promise.all(
      names.map(async (name) => {
        if (!known.has(name) && (await this.#isOwn(name))) await this.remove(name)
      }),
    )
  }

  remove = (containerId: string): Promise<void> => rm(this.#folder(containerId), { recursive: true, force: true })

  /** An empty one, with the folder for a checkpoint that is not complete. Returns the latter. */
  async #makeFolder(containerId: string, checkpointId: string): Promise<string> {
    const folder = this.#folder(containerId)
    const partial = join(folder, `${checkpointId}${PARTIAL}`)
    await rm(folder, { recursive: true, force: true })
    await mkdir(partial, { recursive: true, mode: 0o700 })
    await writeFile(join(folder, ENGINE), this.#options.engine)
    return partial
  }

  /** Also what an earlier version left, which named no engine. */
  async #isOwn(containerId: string): Promise<boolean> {
    const { engine } = this.#options
    return (await readFile(join(this.#folder(containerId), ENGINE), 'utf8').catch(() => engine)) === engine
  }

  #folder(containerId: string): string {
    return join(this.#root, containerId)
  }

  /** Why a checkpoint cannot be used; null if it can. */
  async #faultOf(folder: string): Promise<string | null> {
    const text = await readFile(join(folder, DESCRIPTION), 'utf8').catch(() => null)
    if (text === null) return 'The checkpoint is not complete.'
    const made = JSON.parse(text) as Description
    const { program, bootId } = await this.#describe()
    if (made.program !== program) return 'The checkpoint was written by another version of gVisor.'
    return made.bootId === bootId ? null : 'The checkpoint was written before the host was restarted.'
  }

  /** Where the runtime keeps its state of a container, which depends on the engine's version. */
  async #stateRootOf(containerId: string): Promise<string> {
    const { engineState = ENGINE_STATE } = this.#options
    const runtimes = (await readdir(engineState)).filter((name) => name.startsWith('runtime-'))
    for (const name of runtimes) {
      const root = join(engineState, name, 'moby')
      const files = await readdir(root).catch((): string[] => [])
      if (files.some((file) => file.startsWith(containerId) && file.endsWith('.state'))) return root
    }
    throw new DriverError('unavailable', `The engine shows no state of the container ${containerId} below ${engineState}.`)
  }

  async #describe(): Promise<Description> {
    return { program: this.#options.program, bootId: (await readFile(BOOT_ID, 'utf8')).trim() }
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
