import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { createTenant } from '../../support/create-tenant.ts'
import { startServer } from '../../support/local-server.ts'
import type { NativeClient } from '../../support/native-client.ts'
import { hostileForms, type Hostile, type HostileForm, type Probe } from './hostile-forms.ts'
import { OtherTenant, type Times } from './other-tenant.ts'

export interface NoiseFigure {
  readonly form: string
  readonly load: string
  readonly probe: Probe
  /** Times of the other tenant's requests, ms. */
  readonly before: Times
  readonly during: Times
  /** Answers of the other tenant that were not as expected. */
  readonly failures: readonly string[]
  /** Growth of the server's memory, MiB. */
  readonly grownMiB: number
}

interface Options {
  readonly windowMs: number
  /** Each route of a JSON body is a separate form; otherwise they are taken in turn. */
  readonly isWhole: boolean
  /** Only forms whose name contains it. */
  readonly only?: string | undefined
  readonly say: (line: string) => void
}

const MiB = 1024 ** 2
/** Between two forms the other tenant waits until its requests are this fast, at most so many times, milliseconds. */
const QUIET_MS = 100
const SETTLE_MS = 500
const SETTLE_ATTEMPTS = 20

/** One hostile tenant takes every parser, form of connection and pool in turn, while another one measures its own requests. */
export async function measureNoise(options: Options): Promise<readonly NoiseFigure[]> {
  const server = await startServer({ env: { CELLBLOCK_WEBHOOK_HOSTS: '127.0.0.1' } })
  try {
    const hostile = await prepareHostile(server.url, await createTenant(server, 'hostile'), (tenant) => server.as(tenant))
    await using other = await OtherTenant.prepare(server.as(await createTenant(server, 'other')))
    await other.measure('requests', options.windowMs)
    const figures: NoiseFigure[] = []
    for (const form of hostileForms(options.isWhole).filter(({ name }) => name.includes(options.only ?? ''))) {
      const figure = await measureForm(form, { ...options, hostile, other, pid: server.pid })
      const { before, during, grownMiB, failures } = figure
      options.say(
        `${form.name}: p99 ${before.p99} → ${during.p99} ms, ${grownMiB < 0 ? '' : '+'}${grownMiB} MiB, ${failures.length} failures`,
      )
      figures.push(figure)
    }
    return figures
  } finally {
    await server.stop()
  }
}

async function prepareHostile(url: string, apiKey: string, as: (key: string) => NativeClient): Promise<Hostile> {
  const client = as(apiKey)
  const containerId = await client.createContainer('hostile')
  const path = `/v1/containers/${containerId}/executions?wait=0`
  const { id: executionId } = await client.json<{ id: string }>('POST', path, {
    code: 'import time; time.sleep(3_000)',
    timeout_seconds: 3_600,
  })
  const { id: conversationId } = await client.json<{ id: string }>('POST', '/v1/conversations', {})
  return { url, apiKey, containerId, executionId, conversationId }
}

async function measureForm(
  form: HostileForm,
  { hostile, other, pid, windowMs, isWhole }: Options & { readonly hostile: Hostile; readonly other: OtherTenant; readonly pid: number },
): Promise<NoiseFigure> {
  const { name, load, probe = 'requests' } = form
  await settle(other)
  // Its sandbox may have to start first.
  await other.measure(probe, 0)
  const { times: before } = await other.measure(probe, windowMs)
  const rss = await residentBytes(pid)
  const worker = new Worker(join(import.meta.dirname, 'hostile-worker.ts'), { workerData: { form: name, isWhole, hostile } })
  try {
    await once(worker, 'message')
    const { times: during, failures } = await other.measure(probe, windowMs)
    const grownMiB = Math.round(((await residentBytes(pid)) - rss) / MiB)
    return { form: name, load, probe, before, during, failures, grownMiB }
  } finally {
    await worker.terminate()
  }
}

/** The server may still finish what an earlier form left. */
async function settle(other: OtherTenant): Promise<void> {
  for (let attempt = 0; attempt < SETTLE_ATTEMPTS; attempt++) if ((await other.measure('requests', SETTLE_MS)).times.p99 < QUIET_MS) return
}

/** Throws when the process has ended. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
}
