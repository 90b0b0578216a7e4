import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { summarize } from '../../bench/statistics.ts'
import { createTenant } from '../../support/create-tenant.ts'
import { startServer } from '../../support/local-server.ts'
import type { NativeClient } from '../../support/native-client.ts'
import { hostileForms, type Hostile, type HostileForm } from './hostile-forms.ts'

export interface NoiseFigure {
  readonly form: string
  readonly load: string
  /** Times of the other tenant's requests, ms. */
  readonly before: { readonly p50: number; readonly p99: number }
  readonly during: { readonly p50: number; readonly p99: number }
  /** Answers of the other tenant that were not as expected. */
  readonly failures: readonly string[]
  /** Growth of the server's memory, MiB. */
  readonly grownMiB: number
}

const MiB = 1024 ** 2
/** Between two forms the other tenant waits until its requests are this fast, at most so many times, milliseconds. */
const QUIET_MS = 100
const SETTLE_MS = 500
const SETTLE_ATTEMPTS = 20

/** One hostile tenant takes every parser, form of connection and pool in turn, while another one measures its own requests. */
export async function measureNoise(options: {
  readonly windowMs: number
  readonly isWhole: boolean
  readonly say: (line: string) => void
}): Promise<readonly NoiseFigure[]> {
  const server = await startServer()
  try {
    const hostile = await prepareHostile(server.url, await createTenant(server, 'hostile'), (tenant) => server.as(tenant))
    const other = server.as(await createTenant(server, 'other'))
    await measure(other, options.windowMs)
    const figures: NoiseFigure[] = []
    for (const form of hostileForms(options.isWhole)) {
      const figure = await measureForm(form, { ...options, hostile, other, pid: server.pid })
      options.say(
        `${form.name}: p99 ${figure.before.p99} → ${figure.during.p99} ms, +${figure.grownMiB} MiB, ${figure.failures.length} failures`,
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
  const container = await client.createContainer('hostile')
  const path = `/v1/containers/${container}/executions?wait=0`
  const { id: executionId } = await client.json<{ id: string }>('POST', path, {
    code: 'import time; time.sleep(3_000)',
    timeout_seconds: 3_600,
  })
  const { id: conversationId } = await client.json<{ id: string }>('POST', '/v1/conversations', {})
  return { url, apiKey, executionId, conversationId }
}

async function measureForm(
  form: HostileForm,
  {
    hostile,
    other,
    pid,
    windowMs,
    isWhole,
  }: {
    readonly hostile: Hostile
    readonly other: NativeClient
    readonly pid: number
    readonly windowMs: number
    readonly isWhole: boolean
  },
): Promise<NoiseFigure> {
  await settle(other)
  const before = await measure(other, windowMs)
  const rss = await residentBytes(pid)
  const worker = new Worker(join(import.meta.dirname, 'hostile-worker.ts'), { workerData: { form: form.name, isWhole, hostile } })
  try {
    await once(worker, 'message')
    const during = await measure(other, windowMs)
    const grownMiB = Math.round(((await residentBytes(pid)) - rss) / MiB)
    return { form: form.name, load: form.load, before: before.times, during: during.times, failures: during.failures, grownMiB }
  } finally {
    await worker.terminate()
  }
}

/** The server may still finish what an earlier form left. */
async function settle(other: NativeClient): Promise<void> {
  for (let attempt = 0; attempt < SETTLE_ATTEMPTS; attempt++) if ((await measure(other, SETTLE_MS)).times.p99 < QUIET_MS) return
}

/** Reads and writes of one tenant, one after another. */
async function measure(other: NativeClient, windowMs: number) {
  const times: number[] = []
  const failures: string[] = []
  for (const until = performance.now() + windowMs; performance.now() < until;)
    for (const [method, path, body] of [
      ['GET', '/v1/limits'],
      ['POST', '/v1/conversations', {}],
      ['GET', '/v1/containers'],
    ] as const) {
      const startedAt = performance.now()
      const status = await other.call(method, path, body).then(
        (answer) => answer.status,
        (error: unknown) => String(error),
      )
      times.push(performance.now() - startedAt)
      if (status !== 200) failures.push(`${method} ${path}: ${status}`)
    }
  const { median, p99 } = summarize('ms', times)
  return { times: { p50: median, p99 }, failures }
}

/** Throws when the process has ended. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
}
