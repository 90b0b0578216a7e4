import type { WireExecution } from '../support/native-client.ts'
import { judge } from './judge.ts'
import type { Program } from './parse-programs.ts'
import type { LocalServerProcess } from '../support/local-server.ts'

export interface ProgramResult {
  readonly program: Program
  /** What was missing; empty for a pass. */
  readonly wrong: readonly string[]
  readonly runMs: number
}

export interface ProgramOptions {
  /** Programs at a time. */
  readonly width: number
  /** Programs that run in one container after another before it is replaced. By default 1. */
  readonly shared?: number
  readonly onResult?: (result: ProgramResult) => void
}

/** The name of the containers that the E2B interface lists. */
const LISTED_NAME = 'e2b'
const CONTAINER_ID_CHARACTERS = 26

type Server = Pick<LocalServerProcess, 'native'>

/** Removes what a program left: variables, files, figures, the working directory. */
const RESET = `
%reset -f
import os as _os, shutil as _shutil
_os.chdir('/mnt/data')
for _entry in _os.scandir('/mnt/data'): _shutil.rmtree(_entry.path) if _entry.is_dir(follow_symlinks=False) else _os.unlink(_entry.path)
import matplotlib.pyplot as _plt
_plt.close('all'); _plt.matplotlib.rcdefaults()
%matplotlib inline
%reset -f`

/**
 * Runs the programs, `width` at a time, in the order given. A program that does not pass in a shared container runs again in a new one, whose result
 * counts.
 */
export async function runPrograms(
  server: Server,
  programs: readonly Program[],
  { width, shared = 1, onResult }: ProgramOptions,
): Promise<readonly ProgramResult[]> {
  const results: ProgramResult[] = []
  const waiting = [...programs]
  const work = async (): Promise<void> => {
    const place = new ProgramContainer(server, shared)
    for (let program = waiting.shift(); program !== undefined; program = waiting.shift()) {
      const isShared = place.isUsed
      const first = await place.run(program)
      const result = isShared && first.wrong.length > 0 ? await place.runInNew(program) : first
      results.push(result)
      onResult?.(result)
    }
    await place.remove()
  }
  await Promise.all(Array.from({ length: width }, work))
  return results
}

/** A container that is replaced after a number of programs, and after one that did not succeed. */
class ProgramContainer {
  readonly #server: Server
  readonly #shared: number
  #id: string | null = null
  #count = 0

  constructor(server: Server, shared: number) {
    this.#server = server
    this.#shared = shared
  }

  get isUsed(): boolean {
    return this.#id !== null
  }

  async run(program: Program): Promise<ProgramResult> {
    const { native } = this.#server
    this.#id ??= await native.createContainer(LISTED_NAME)
    let execution: WireExecution | null = null
    for (const { code, isAfterSleep } of program.cells) {
      if (isAfterSleep) await this.#hibernate(this.#id)
      execution = await native.run(this.#id, { code, language: program.language, timeout_seconds: 180 })
    }
    if (execution === null) throw new Error(`${program.title} has no cell.`)
    this.#count += 1
    const wrong = [...judge(program, execution), ...(await this.#wrongPreviews(this.#id, program))]
    const isReusable = this.#count < this.#shared && (execution.status === 'succeeded' || execution.error !== null)
    if (!isReusable || (await native.run(this.#id, RESET)).status !== 'succeeded') await this.remove()
    return { program, wrong, runMs: execution.usage['run_ms'] ?? 0 }
  }

  /** `#| preview: file text`: the preview of the file is a table that contains the text. */
  async #wrongPreviews(containerId: string, { expectations }: Program): Promise<readonly string[]> {
    const wrong: string[] = []
    for (const { text } of expectations.filter(({ kind }) => kind === 'preview')) {
      const [path = '', ...words] = text.split(' ')
      const { kind, preview } = await this.#server.native.json<{ readonly kind: string; readonly preview: unknown }>(
        'GET',
        `/v1/containers/${containerId}/entries/preview?path=${path}`,
      )
      const shown = JSON.stringify(preview)
      if (kind !== 'table' || !shown.includes(words.join(' '))) wrong.push(`no preview ${text}: ${kind} ${shown.slice(0, 300)}`)
    }
    return wrong
  }

  /** By the pause of the E2B interface: no other interface hibernates a container at once. */
  async #hibernate(containerId: string): Promise<void> {
    const { native } = this.#server
    const rows = await native.json<readonly { readonly sandboxID: string }[]>('GET', '/e2b/v2/sandboxes')
    const row = rows.find(({ sandboxID }) => containerId.endsWith(sandboxID.slice(0, CONTAINER_ID_CHARACTERS)))
    if (row === undefined) throw new Error(`The container ${containerId} is not listed.`)
    const answer = await native.call('POST', `/e2b/sandboxes/${row.sandboxID}/pause`)
    if (!answer.ok) throw new Error(`The container ${containerId} did not hibernate: ${await answer.text()}`)
  }

  async runInNew(program: Program): Promise<ProgramResult> {
    await this.remove()
    return this.run(program)
  }

  async remove(): Promise<void> {
    if (this.#id !== null) await this.#server.native.json('DELETE', `/v1/containers/${this.#id}`)
    this.#id = null
    this.#count = 0
  }
}
