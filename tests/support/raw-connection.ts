import { connect, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'vitest'
import type { TestApi, TestKey } from './start-api.ts'

/** A connection below HTTP: it sends what a test writes, and reads only when the test says so. */
export interface RawConnection {
  readonly socket: Socket
  /** Everything that was read. */
  readonly received: () => string
  readonly isClosed: () => boolean
  /** The status of the answer, once it has arrived. */
  readonly status: () => Promise<number>
}

/** `allowHalfOpen`: it continues to send when the server has ended its side. */
export async function openConnection(
  url: string,
  { isReading = true, allowHalfOpen = false }: { readonly isReading?: boolean; readonly allowHalfOpen?: boolean } = {},
): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen })
  let text = ''
  let isClosed = false
  socket.on('error', () => undefined)
  socket.once('close', () => (isClosed = true))
  if (isReading) socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  return {
    socket,
    received: () => text,
    isClosed: () => isClosed,
    async status() {
      await expect.poll(() => /^HTTP\/1\.1 (\d+)/.exec(text)?.[1], { timeout: 10_000 }).toBeDefined()
      return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])
    },
  }
}

/** The head of a request as it is on the wire. */
export function requestHead(
  line: string,
  { key, headers = {} }: { readonly key?: TestKey; readonly headers?: Record<string, string> } = {},
): string {
  const all = { host: 'localhost', ...(key && { authorization: `Bearer ${key.key}` }), ...headers }
  return `${line} HTTP/1.1\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`
}

/** The head of a request with a JSON body of so many bytes. */
export const jsonHead = (path: string, key: TestKey, bytes: number): string =>
  requestHead(`POST ${path}`, { key, headers: { 'content-type': 'application/json', 'content-length': String(bytes) } })

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Memory that this process, with its server, cannot free, bytes. */
export function heldBytes(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Ids of a container and of an execution that waits in it. */
export async function acceptedExecution(api: TestApi): Promise<{ readonly containerId: string; readonly executionId: string }> {
  const { id: containerId } = await api.openai().containers.create({ name: 'connections' })
  const accepted = await api.post(`/v1/containers/${containerId}/executions?wait=0`, { code: 'x' })
  return { containerId, executionId: ((await accepted.json()) as { id: string }).id }
}
