import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'
import { isStorageFull } from '../../services/model/storage-full.ts'
import { listenOnLoopback } from '../emulators/listen.ts'
import { createS3Handler } from '../emulators/s3/handler.ts'
import type { ObjectFolder } from '../emulators/s3/bucket-folder.ts'
import { startApi } from '../support/start-api.ts'

/** A device without free space. */
const toFullDisk = async (): Promise<never> => {
  await writeFile('/dev/full', 'x')
  throw new Error('The device had space.')
}

it('answers 507 when an object cannot be stored, a fault that a retry does not fix', async () => {
  const api = await startApi({ wrapObjects: (objects) => ({ ...objects, put: (...args) => objects.put(...args).then(toFullDisk) }) })
  try {
    const { id } = await api.openai().containers.create({ name: 'x' })
    const form = new FormData()
    form.set('file', new Blob(['text']), 'data.txt')
    const answer = await api.fetch(`/v1/containers/${id}/files`, { method: 'POST', body: form })
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([507, 'false'])
    expect(await answer.json()).toMatchObject({ error: { code: 'storage_full', message: expect.stringContaining('free space') } })
    expect((await api.openai().containers.files.list(id)).data).toEqual([])
  } finally {
    await api.stop()
  }
})

it('reports a full disk behind the local object store as InsufficientStorage, without a retry', async () => {
  const faults: unknown[] = []
  const credentials = { accessKeyId: 'A', secretAccessKey: 'B' }
  const folder = { put: toFullDisk } as unknown as ObjectFolder
  const options = { folder, credentials, region: 'us-east-1', onError: (error: unknown) => void faults.push(error) }
  const server = await listenOnLoopback(createServer(createS3Handler(options)))
  const client = new S3Client({ region: 'us-east-1', endpoint: server.endpoint, credentials, forcePathStyle: true })
  const refused = await client.send(new PutObjectCommand({ Bucket: 'cellblock', Key: 'a', Body: 'text' })).catch((error: unknown) => error)
  expect(refused).toMatchObject({ name: 'InsufficientStorage', $metadata: { attempts: 1 } })
  expect(isStorageFull(refused)).toBe(true)
  expect(faults).toMatchObject([{ code: 'ENOSPC' }])
  client.destroy()
  await server.stop()
})
