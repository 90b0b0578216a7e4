import { createHash, randomBytes } from 'node:crypto'
import { access, constants, copyFile, link, mkdir, open, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ignoreMissing, openObjectFile, writeObjectFile, type ObjectMetadata, type OpenObject } from './object-file.ts'

export interface StoredObject extends ObjectMetadata {
  readonly bytes: number
}

/** Objects in a folder. A key never becomes part of a path: files are named after its hash. */
export interface ObjectFolder {
  /** Takes effect completely or not at all. With `onlyNew` throws ObjectExistsError when the key is taken. */
  put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredObject>
  open(key: string): Promise<OpenObject | null>
  delete(key: string): Promise<void>
  /** Returns how many objects it deleted. */
  deletePrefix(prefix: string, isOver?: () => boolean): Promise<number>
  /** In the order of the keys' bytes. */
  list(prefix: string): Promise<readonly StoredObject[]>
  /** Copies every object into a new folder, which openObjectFolder can open. Objects deleted meanwhile may be missing. */
  copyTo(target: string): Promise<void>
  /** Rejects when the folder does not exist. */
  check(): Promise<void>
  /** A new path on the same disk for bytes that are not an object yet; the next start removes leftovers. */
  temporaryPath(): string
}
export interface PutOptions {
  readonly contentType: string
  readonly onlyNew?: boolean
}

export class ObjectExistsError extends Error {}

const MAX_OBJECT_BYTES = 5 * 1024 ** 3
const MAX_ATTEMPTS = 5
const PUBLISHED = 'published'
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
/** Keys with equal first segments (`tenants/{tenant}/{container}`) share a folder, so listing one container reads no other's files. */
const GROUPING_SEGMENTS = 3
const folderName = (key: string): string => hashOf(key.split('/').slice(0, GROUPING_SEGMENTS).join('/')).slice(0, 32)

/** With `isDurable` a put resolves once the object survives a power failure. */
export async function openObjectFolder(root: string, { isDurable }: { readonly isDurable: boolean }): Promise<ObjectFolder> {
  const temporary = join(root, 'temporary')
  await rm(temporary, { recursive: true, force: true })
  await mkdir(temporary, { recursive: true, mode: 0o700 })
  const published = join(root, PUBLISHED)
  await mkdir(published, { recursive: true, mode: 0o700 })
  return new HashedFolder(published, temporary, isDurable)
}

class HashedFolder implements ObjectFolder {
  readonly #root: string
  readonly #temporary: string
  readonly #isDurable: boolean

  constructor(root: string, temporary: string, isDurable: boolean) {
    this.#root = root
    this.#temporary = temporary
    this.#isDurable = isDurable
  }

  temporaryPath(): string {
    return join(this.#temporary, randomBytes(16).toString('hex'))
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, { contentType, onlyNew = false }: PutOptions): Promise<StoredObject> {
    const metadata: ObjectMetadata = { key, contentType, etag: `"${randomBytes(16).toString('hex')}"`, modifiedAt: Date.now() }
    const unfinished = this.temporaryPath()
    try {
      const bytes = await writeObjectFile(unfinished, { body, metadata, maxBytes: MAX_OBJECT_BYTES, isDurable: this.#isDurable })
      await this.#publish(unfinished, this.#pathOf(key), onlyNew)
      return { ...metadata, bytes }
    } finally {
      await unlink(unfinished).catch(ignoreMissing)
    }
  }

  open(key: string): Promise<OpenObject | null> {
    return openObjectFile(this.#pathOf(key))
  }

  async delete(key: string): Promise<void> {
    const path = this.#pathOf(key)
    await unlink(path).catch(ignoreMissing)
    await rmdir(dirname(path)).catch(() => undefined)
  }

  async deletePrefix(prefix: string, isOver = () => false): Promise<number> {
    let deleted = 0
    for (const { key } of await this.list(prefix)) {
      await this.delete(key)
      deleted++
      if (isOver()) break
    }
    return deleted
  }

  async list(prefix: string): Promise<readonly StoredObject[]> {
    const found: StoredObject[] = []
    const isOneFolder = prefix.split('/').length > GROUPING_SEGMENTS
    for (const name of isOneFolder ? [folderName(prefix)] : await readdir(this.#root)) {
      const path = join(this.#root, name)
      for (const file of (await readdir(path).catch(ignoreMissing)) ?? []) {
        const object = await openObjectFile(join(path, file))
        if (object === null) continue
        await object.file.close()
        if (object.metadata.key.startsWith(prefix)) found.push({ ...object.metadata, bytes: object.bytes })
      }
    }
    return found.toSorted((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
  }

  async copyTo(target: string): Promise<void> {
    for (const name of await readdir(this.#root)) {
      const to = join(target, PUBLISHED, name)
      await mkdir(to, { recursive: true, mode: 0o700 })
      for (const file of (await readdir(join(this.#root, name)).catch(ignoreMissing)) ?? [])
        await copyFile(join(this.#root, name, file), join(to, file), constants.COPYFILE_FICLONE).catch(ignoreMissing)
    }
  }

  check(): Promise<void> {
    return access(this.#root)
  }

  #pathOf(key: string): string {
    return join(this.#root, folderName(key), hashOf(key))
  }

  /** Makes a complete file visible under its name. A concurrent delete of the folder's last object may remove the folder. */
  async #publish(from: string, to: string, onlyNew: boolean): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await (onlyNew ? link(from, to) : rename(from, to))
        break
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (onlyNew && code === 'EEXIST') throw new ObjectExistsError('An object with this key exists already.')
        if (code !== 'ENOENT' || attempt === MAX_ATTEMPTS) throw error
        const created = await mkdir(dirname(to), { recursive: true, mode: 0o700 })
        if (created !== undefined && this.#isDurable) await syncFolder(this.#root)
      }
    }
    if (this.#isDurable) await syncFolder(dirname(to))
  }
}

/** Makes names in a folder durable; a folder that was deleted meanwhile has none. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(ignoreMissing)
  if (folder === null) return
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
