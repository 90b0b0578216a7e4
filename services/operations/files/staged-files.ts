import { createHash, randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import type { ContainerFile } from '../../model/files/file.ts'
import { normalizeFilePath } from '../../model/files/file-path.ts'
import { deleteFile } from './delete-file.ts'
import { supersedeOlderVersions } from './supersede-older-versions.ts'
import { LIMITS } from '../../model/limits.ts'
import { newObjectKey } from '../../model/object-keys.ts'
import type { RunContext, RunPorts } from '../executions/run-code.ts'
import { newFile } from './new-file.ts'
import type { SandboxPath } from './sandbox-path.ts'
import { moveInSandbox, writeInSandbox, type WriteMode } from './sandbox-input.ts'

/** All files of one call, bytes. */
const MAX_BYTES = LIMITS.maxFileBytes
/** A file that the sandbox writes, up to this size is the input of a command; a larger one is brought into the sandbox as a stored file, and moved. */
const MAX_INPUT_BYTES = 64 * 1024

interface StagedFile {
  readonly path: SandboxPath
  readonly objectKey: string
  readonly bytes: number
  readonly sha256: string
}

type StagingPorts = Pick<RunPorts, 'table' | 'objects' | 'clock'>

/** Files of a call in the object store, which no path names until the call is complete. `close` removes those that none names then. */
export class StagedFiles {
  readonly #deps: StagingPorts
  readonly #container: Container
  readonly #files: StagedFile[] = []
  readonly #unnamed = new Set<string>()
  #bytes = 0

  constructor(deps: StagingPorts, container: Container) {
    this.#deps = deps
    this.#container = container
  }

  get paths(): readonly SandboxPath[] {
    return this.#files.map(({ path }) => path)
  }

  /** Streams bytes into the store, and returns their number. Throws ServiceError `invalid_file_name` or `request_too_large`. */
  async add(path: SandboxPath, source: Readable): Promise<number> {
    if (path.stored !== null) normalizeFilePath(path.stored)
    const objectKey = newObjectKey(this.#container.tenant, 'files', this.#container.id)
    this.#unnamed.add(objectKey)
    // A source can fail before the store reads it; the reader then gets the error, and without a listener it would end the process.
    source.on('error', () => undefined)
    const hash = createHash('sha256')
    let bytes = 0
    const count = (chunk: Uint8Array): void => {
      bytes += chunk.byteLength
      this.#bytes += chunk.byteLength
      hash.update(chunk)
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
    return bytes
  }

  /** Gives every file its path: first those that the sandbox may refuse, so that such a refusal leaves the stored files as they were. */
  async keep(context: RunContext, mode: WriteMode = 'replace'): Promise<void> {
    // Only the sandbox knows what is there now.
    const isStored = ({ path }: StagedFile): boolean => path.stored !== null && mode === 'replace'
    for (const file of this.#files) if (!isStored(file)) await this.#write(context, file, mode)
    for (const file of this.#files) if (isStored(file)) await this.#put(file, file.path.stored ?? '')
  }

  async close(): Promise<void> {
    await Promise.all([...this.#unnamed].map((objectKey) => this.#deps.objects.delete(objectKey)))
  }

  async #write(context: RunContext, file: StagedFile, mode: WriteMode): Promise<void> {
    const { path, objectKey, bytes } = file
    if (bytes > MAX_INPUT_BYTES) return this.#move(context, file, mode)
    const pieces: Uint8Array[] = []
    for await (const piece of (await this.#deps.objects.get(objectKey))?.body ?? []) pieces.push(piece)
    await writeInSandbox(context, this.#container.id, { path: path.real, bytes: Buffer.concat(pieces), mode })
  }

  async #move(context: RunContext, file: StagedFile, mode: WriteMode): Promise<void> {
    const carrier = await this.#put(file, `.upload-${randomUUID()}`)
    try {
      await moveInSandbox(context, this.#container.id, { from: carrier.path, to: file.path.real, mode })
    } finally {
      const { tenant, containerId, id } = carrier
      const left = await this.#deps.table.files.get(tenant, containerId, id)
      // The sandbox may have removed it already; its bytes are stored nevertheless.
      if (left?.state === 'stored') await deleteFile(this.#deps, left)
    }
  }

  async #put({ objectKey, bytes, sha256 }: StagedFile, stored: string): Promise<ContainerFile> {
    const { tenant, id: containerId } = this.#container
    const path = normalizeFilePath(stored)
    const file = newFile(this.#deps, { tenant, containerId, path, bytes, sha256, objectKey, state: 'stored' })
    // A failed write may have succeeded in the table, so its bytes are kept.
    this.#unnamed.delete(objectKey)
    await this.#deps.table.files.put(file)
    await supersedeOlderVersions(this.#deps, file, this.#deps.clock.now())
    return file
  }
}

const tooLarge = (): ServiceError =>
  new ServiceError(
    'request_too_large',
    `The files of this call exceed ${MAX_BYTES} bytes together, the maximum. Send them in several calls.`,
  )
