import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import { normalizeFilePath } from '../../model/files/file-path.ts'
import { supersedeOlderVersions } from '../../operations/files/supersede-older-versions.ts'
import { LIMITS } from '../../model/limits.ts'
import { newObjectKey } from '../../model/object-keys.ts'
import type { ApiDeps } from '../../http/deps.ts'
import type { RunContext } from '../../operations/executions/run-code.ts'
import { newFile } from '../../operations/files/new-file.ts'
import type { SandboxPath } from './paths.ts'
import { writeInSandbox } from './sandbox-input.ts'

/** Maximum size of a file outside `/mnt/data`, which is transferred through input and output of commands, bytes. */
export const MAX_SANDBOX_BYTES = 16 * 1024 ** 2
/** All files of one call, bytes. */
const MAX_BYTES = LIMITS.maxFileBytes

interface StagedFile {
  readonly path: SandboxPath
  readonly objectKey: string
  readonly bytes: number
  readonly sha256: string
}

/** Files of a call in the object store, which no path names until the call is complete. `close` removes those that none names then. */
export class StagedFiles {
  readonly #deps: ApiDeps
  readonly #container: Container
  readonly #files: StagedFile[] = []
  readonly #unnamed = new Set<string>()
  #bytes = 0

  constructor(deps: ApiDeps, container: Container) {
    this.#deps = deps
    this.#container = container
  }

  get paths(): readonly SandboxPath[] {
    return this.#files.map(({ path }) => path)
  }

  /** Streams bytes into the store. Throws ServiceError `invalid_file_name` or `request_too_large`. */
  async add(path: SandboxPath, source: Readable): Promise<void> {
    if (path.stored !== null) normalizeFilePath(path.stored)
    const objectKey = newObjectKey(this.#container.tenant, 'files', this.#container.id)
    this.#unnamed.add(objectKey)
    // A source can fail before the store reads it; the reader then gets the error, and without a listener it would end the process.
    source.on('error', () => undefined)
    const hash = createHash('sha256')
    const maxBytes = path.stored === null ? MAX_SANDBOX_BYTES : Number.POSITIVE_INFINITY
    let bytes = 0
    const count = (chunk: Uint8Array): void => {
      bytes += chunk.byteLength
      this.#bytes += chunk.byteLength
      hash.update(chunk)
      if (bytes > maxBytes) throw tooLargeOutside()
      if (this.#bytes > MAX_BYTES) throw tooLarge()
    }
    async function* counted(): AsyncGenerator<Uint8Array, void, undefined> {
      for await (const chunk of source as AsyncIterable<Uint8Array>) {
        count(chunk)
        yield chunk
      }
    }
    await this.#deps.objects.put(objectKey, counted(), { contentType: 'application/octet-stream' })
    this.#files.push({ path, objectKey, bytes, sha256: hash.digest('hex') })
  }

  /** Gives every file its path: first those that the sandbox may refuse, so that such a refusal leaves the stored files as they were. */
  async keep(context: RunContext): Promise<void> {
    for (const file of this.#files) if (file.path.stored === null) await this.#write(context, file)
    for (const file of this.#files) if (file.path.stored !== null) await this.#put(file, file.path.stored)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#unnamed].map((objectKey) => this.#deps.objects.delete(objectKey)))
  }

  /** Throws ServiceError `too_many_results` when this process holds too many bytes. */
  async #write(context: RunContext, { path, objectKey, bytes }: StagedFile): Promise<void> {
    await this.#deps.results.use(bytes, async () => {
      const content = Buffer.alloc(bytes)
      let at = 0
      for await (const chunk of (await this.#deps.objects.get(objectKey))?.body ?? []) {
        content.set(chunk, at)
        at += chunk.byteLength
      }
      if (at !== bytes) throw new Error(`The object ${objectKey} has ${at} bytes instead of ${bytes}.`)
      await writeInSandbox(context, this.#container.id, { path: path.real, bytes: content })
    })
  }

  async #put({ objectKey, bytes, sha256 }: StagedFile, stored: string): Promise<void> {
    const { tenant, id: containerId } = this.#container
    const path = normalizeFilePath(stored)
    const file = newFile(this.#deps, { tenant, containerId, path, bytes, sha256, objectKey, state: 'stored' })
    // A failed write may have succeeded in the table, so its bytes are kept.
    this.#unnamed.delete(objectKey)
    await this.#deps.table.files.put(file)
    await supersedeOlderVersions(this.#deps, file, this.#deps.clock.now())
  }
}

const tooLarge = (): ServiceError =>
  new ServiceError(
    'request_too_large',
    `The files of this call exceed ${MAX_BYTES} bytes together, the maximum. Send them in several calls.`,
  )

const tooLargeOutside = (): ServiceError =>
  new ServiceError(
    'request_too_large',
    `A file outside /mnt/data exceeds ${MAX_SANDBOX_BYTES} bytes, the maximum. Write the file to /mnt/data and move it.`,
  )
