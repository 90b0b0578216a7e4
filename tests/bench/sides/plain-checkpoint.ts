import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { GVISOR_RUNTIME } from '../../../scripts/setup/gvisor/ensure-gvisor.ts'
import { Checkpoints, type CheckpointOptions } from '../../../services/adapters/drivers/docker/checkpoints.ts'
import { BENCH_LABEL, docker } from './docker.ts'
import { timed } from './time.ts'

const FOLDER = '/shared'
const CHECKPOINT = 'plain'
/** Writes a number every millisecond, so that the host sees when it runs. */
const COUNT = `
import itertools, time
for number in itertools.count():
    with open('${FOLDER}/number', 'w') as file: file.write(str(number))
    time.sleep(0.001)`

/** One process on gVisor without a supervisor and without limits, which the engine and `runsc` alone write to disk and continue. */
export class PlainCheckpoint implements AsyncDisposable {
  readonly #checkpoints: Checkpoints
  readonly #container: ReturnType<typeof docker.getContainer>
  readonly #folder: string

  private constructor(parts: { readonly checkpoints: Checkpoints; readonly containerId: string; readonly folder: string }) {
    this.#checkpoints = parts.checkpoints
    this.#container = docker.getContainer(parts.containerId)
    this.#folder = parts.folder
  }

  /** Starts a process that has executed `code`. */
  static async start(image: string, code: string, options: CheckpointOptions): Promise<PlainCheckpoint> {
    const folder = await mkdtemp(join(tmpdir(), 'cellblock-plain-'))
    const [label = '', value = ''] = BENCH_LABEL.split('=')
    const { id: containerId } = await docker.createContainer({
      Image: image,
      Entrypoint: ['python3', '-c', code + COUNT],
      User: '0',
      Labels: { [label]: value },
      HostConfig: { Runtime: GVISOR_RUNTIME, NetworkMode: 'none', Binds: [`${folder}:${FOLDER}`] },
    })
    const plain = new PlainCheckpoint({ checkpoints: new Checkpoints(options), containerId, folder })
    await plain.#container.start()
    await plain.#untilCounting('')
    return plain
  }

  /** Milliseconds to write the process to disk, and its bytes there. */
  async suspend(): Promise<{ readonly ms: number; readonly bytes: number }> {
    const { id } = this.#container
    await this.#checkpoints.prepare(id, { checkpointId: CHECKPOINT, bytes: 0 })
    const ms = await timed(() => this.#checkpoints.write(id, CHECKPOINT))
    const bytes = (await this.#checkpoints.bytesOf(id, CHECKPOINT)) ?? 0
    await this.#container.wait()
    return { ms, bytes }
  }

  /** Milliseconds until it runs again. */
  async resume(): Promise<number> {
    await this.#checkpoints.use(this.#container.id, CHECKPOINT)
    const before = await this.#number()
    const ms = await timed(async () => {
      const started = this.#container.start()
      await this.#untilCounting(before)
      await started
    })
    await this.#checkpoints.forget(this.#container.id)
    return ms
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#container.remove({ force: true })
    await this.#checkpoints.remove(this.#container.id)
    await rm(this.#folder, { recursive: true })
  }

  #number = (): Promise<string> => readFile(join(this.#folder, 'number'), 'utf8').catch(() => '')

  /** Until it has written another number than `before`. */
  async #untilCounting(before: string): Promise<void> {
    for (let now = ''; now === '' || now === before; now = await this.#number()) await pause(1)
  }
}
