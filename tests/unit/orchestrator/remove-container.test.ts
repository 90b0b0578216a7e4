import Docker from 'dockerode'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { removeContainer } from '../../../services/adapters/drivers/docker/remove-container.ts'

/** Answers of the engine to `DELETE /containers/{id}`, in order; the last one repeats. It answers nothing else. */
let statuses: number[]
let engine: Server
let docker: Docker
beforeEach(async () => {
  engine = createServer((request, response) => {
    if (request.method !== 'DELETE') return
    const status = statuses.length > 1 ? statuses.shift() : statuses[0]
    response.writeHead(status ?? 500, { 'content-type': 'application/json' }).end(status === 204 ? '' : '{"message":"scripted"}')
  }).listen(0, '127.0.0.1')
  await once(engine, 'listening')
  docker = new Docker({ host: '127.0.0.1', port: (engine.address() as AddressInfo).port })
})
afterEach(() => {
  engine.closeAllConnections()
  engine.close()
})

const remove = (timeoutMs?: number): Promise<void> => removeContainer(docker.getContainer('sbx_a'), timeoutMs)

it('removes a container whose removal by another call has failed', async () => {
  statuses = [409, 409, 204]
  await remove()
  expect(statuses).toEqual([204])
})

it('is done when another call has removed it', async () => {
  statuses = [409, 404]
  await remove()
  expect(statuses).toEqual([404])
})

it('reports a failure, and a removal that does not end', async () => {
  statuses = [500]
  await expect(remove()).rejects.toMatchObject({ statusCode: 500 })
  statuses = [409]
  await expect(remove(100)).rejects.toMatchObject({ statusCode: 409 })
})
