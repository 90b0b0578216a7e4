import { afterAll, beforeAll, expect, it } from 'vitest'
import { copyFile } from '../../../services/operations/files/copy-file.ts'
import type { ContainerFile } from '../../../services/model/files/file.ts'
import { LIMITS } from '../../../services/model/limits.ts'
import { objectPrefix } from '../../../services/model/object-keys.ts'
import type { FileStore } from '../../../services/ports/file-store.ts'
import { fileRow } from '../../support/rows.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
/** Called when the store starts to receive bytes. */
let arrived = (): void => undefined
beforeAll(async () => {
  api = await startApi({
    wrapObjects: (objects) => ({
      ...objects,
      put: (...args) => {
        arrived()
        return objects.put(...args)
      },
    }),
  })
})
afterAll(() => api.stop())

const newContainer = async (): Promise<string> => (await api.openai().containers.create({ name: 'races' })).id
/** The remaining file rows and objects of a container. */
async function leftOf(container: string): Promise<{ readonly rows: number; readonly objects: number }> {
  const { tenant } = api.owner
  const rows = (await api.table.files.all(tenant, container)).length
  return { rows, objects: await api.objects.deletePrefix(objectPrefix(tenant, container)) }
}

it.each(['marked', 'swept'] as const)('an upload into a container that is deleted and %s meanwhile stores nothing', async (how) => {
  const container = await newContainer()
  const { promise: deleted, resolve } = Promise.withResolvers<void>()
  const arriving = new Promise<void>((arrive) => {
    arrived = arrive
  })
  const boundary = 'b'
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async start(stream) {
      stream.enqueue(
        encoder.encode(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${'x'.repeat(70_000)}`),
      )
      await deleted
      stream.enqueue(encoder.encode(`\r\n--${boundary}--\r\n`))
      stream.close()
    },
  })
  const init = { method: 'POST', body, duplex: 'half', headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } }
  const upload = api.fetch(`/v1/containers/${container}/files`, init)
  // From here on the request has read the container.
  await arriving
  await api.openai().containers.delete(container)
  if (how === 'swept') await api.table.containers.remove(api.owner.tenant, container)
  resolve()
  const answer = await upload
  expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([404, 'container_not_found'])
  expect(await leftOf(container)).toEqual({ rows: 0, objects: 0 })
})

async function copyInto(container: string, files: Partial<FileStore>): Promise<unknown> {
  const source = {
    id: 'file-1',
    tenant: api.owner.tenant,
    path: 'a',
    bytes: 1,
    sha256: null,
    mime: 'text/plain',
    objectKey: 'source',
    createdAt: 0,
  }
  await api.objects.put(source.objectKey, Buffer.from('x'), { contentType: 'text/plain' })
  const ports = { objects: api.objects, table: { ...api.table, files: { ...api.table.files, ...files } } }
  return copyFile(ports, source, { containerId: container, now: Date.now() })
}

it('a copy into a deleted container stores nothing', async () => {
  const container = await newContainer()
  const put = async (file: ContainerFile): Promise<void> => {
    await api.openai().containers.delete(container)
    await api.table.files.put(file)
  }
  await expect(copyInto(container, { put })).rejects.toMatchObject({ code: 'container_not_found' })
  expect(await leftOf(container)).toEqual({ rows: 0, objects: 0 })
})

it('a file beyond the file limit stores nothing', async () => {
  const container = await newContainer()
  const all = async () => Array.from({ length: LIMITS.maxFilesPerContainer + 1 }, (_, i) => fileRow({ path: String(i) }))
  await expect(copyInto(container, { all })).rejects.toMatchObject({ code: 'invalid_request' })
  expect(await leftOf(container)).toEqual({ rows: 0, objects: 0 })
})
