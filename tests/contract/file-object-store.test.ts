import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../services/ports/object-store.ts'
import { createFileObjectStore } from '../../services/adapters/storage/files/file-object-store.ts'
import { openObjectFolder } from '../../services/adapters/storage/files/object-folder.ts'
import { objectStoreContract } from './object-store.ts'

let folder: string
let durable: ObjectStore

const open = async (name: string, isDurable: boolean): Promise<ObjectStore> =>
  createFileObjectStore({ folder: await openObjectFolder(join(folder, name), { isDurable }), secret: Buffer.alloc(32, 1) })
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-test-'))
  durable = await open('durable', true)
})
afterAll(() => rm(folder, { recursive: true }))

objectStoreContract('files', () => durable)

describe('object files', () => {
  it('have names that contain nothing of the key', async () => {
    const store = await open('names', false)
    await store.put('tenants/tnt_1/cntr_1/files/../../../secret', Buffer.from('x'), { contentType: 'text/plain' })
    const names = await readdir(join(folder, 'names'), { recursive: true })
    expect(names.filter((name) => !/^(temporary|published(\/[0-9a-f]{32}(\/[0-9a-f]{64})?)?)$/.test(name))).toEqual([])
    expect(await store.head('tenants/tnt_1/cntr_1/files/../../../secret')).toEqual({ bytes: 1 })
  })

  it('are open only while their content is read', async () => {
    const store = await open('descriptors', false)
    await store.put('tenants/tnt_1/cntr_1/files/a', new Uint8Array(1024 * 1024), { contentType: 'text/plain' })
    await store.get('tenants/tnt_1/cntr_1/files/a')
    const interrupted = await store.get('tenants/tnt_1/cntr_1/files/a')
    for await (const chunk of interrupted?.body ?? []) if (chunk.byteLength > 0) break
    const targets = await Promise.all((await readdir('/proc/self/fd')).map((name) => readlink(join('/proc/self/fd', name)).catch(() => '')))
    expect(targets.filter((target) => target.startsWith(join(folder, 'descriptors')))).toEqual([])
  })

  it('of unfinished uploads are removed at the next start', async () => {
    await open('leftovers', false)
    await writeFile(join(folder, 'leftovers', 'temporary', 'unfinished'), 'x')
    await open('leftovers', false)
    expect(await readdir(join(folder, 'leftovers', 'temporary'))).toEqual([])
  })
})
