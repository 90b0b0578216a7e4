import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { createTenant } from '../../support/create-tenant.ts'
import { startServer } from '../../support/local-server.ts'
import type { NativeClient } from '../../support/native-client.ts'
import { allForms } from './all-forms.ts'
import type { Hostile, HostileForm, Probe } from './hostile-forms.ts'
import { startGatewayHosts, type GatewayHosts } from './gateway-hosts.ts'
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
  /** One server for all forms, also for those that leave work behind. */
  readonly isOneServer: boolean
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
  const forms = allForms(options.isWhole).filter(({ name }) => name.includes(options.only ?? ''))
  const isAlone = (form: HostileForm): boolean => form.isAlone === true && !options.isOneServer
  const together = forms.filter((form) => !isAlone(form))
  const servers = [...(together.length > 0 ? [together] : []), ...forms.filter(isAlone).map((form) => [form])]
  const figures: NoiseFigure[] = []
  for (const ofServer of servers) figures.push(...(await measureForms(ofServer, options)))
  return figures
}

/** On one server. */
async function measureForms(forms: readonly HostileForm[], options: Options): Promise<readonly NoiseFigure[]> {
  await using hosts = await startGatewayHosts()
  const server = await startServer({ env: { CELLBLOCK_WEBHOOK_HOSTS: '127.0.0.1', ...hosts.env } })
  try {
    const [hostileKey, otherKey] = [await createTenant(server, 'hostile'), await createTenant(server, 'other')]
    await hosts.allow(server)
    const hostile = await prepareHostile(server.as(hostileKey), { url: server.url, apiKey: hostileKey, hosts, windowMs: options.windowMs })
    await using other = await OtherTenant.prepare(server.as(otherKey), hosts.otherPolicy)
    await other.measure('requests', options.windowMs)
    const figures: NoiseFigure[] = []
    for (const form of forms)
      for (const figure of await measureForm(form, { ...options, hostile, other, pid: server.pid })) {
        const { probe, before, during, grownMiB, failures } = figure
        options.say(
          `${form.name}, ${probe}: p99 ${before.p99} → ${during.p99} ms, ${grownMiB < 0 ? '' : '+'}${grownMiB} MiB, ${failures.length} failures`,
        )
        figures.push(figure)
      }
    return figures
  } finally {
    await server.stop()
  }
}

async function prepareHostile(
  client: NativeClient,
  { hosts, windowMs, ...of }: Pick<Hostile, 'url' | 'apiKey'> & { readonly hosts: GatewayHosts; readonly windowMs: number },
): Promise<Hostile> {
  const containerId = await client.createContainer('hostile')
  const path = `/v1/containers/${containerId}/executions?wait=0`
  const { id: executionId } = await client.json<{ id: string }>('POST', path, {
    code: 'import time; time.sleep(3_000)',
    timeout_seconds: 3_600,
  })
  const { id: conversationId } = await client.json<{ id: string }>('POST', '/v1/conversations', {})
  const networked = await Promise.all(['a', 'b', 'c'].map((name) => client.createContainer(name)))
  for (const id of networked) await client.json('PUT', `/v1/containers/${id}/network`, hosts.hostilePolicy)
  return { ...of, containerId, executionId, conversationId, networked, seconds: windowMs / 1_000 }
}

async function measureForm(
  form: HostileForm,
  { hostile, other, pid, windowMs, isWhole }: Options & { readonly hostile: Hostile; readonly other: OtherTenant; readonly pid: number },
): Promise<readonly NoiseFigure[]> {
  const { name, load, probes = ['requests'] } = form
  await settle(other)
  // Its sandbox may have to start first.
  for (const probe of probes) await other.measure(probe, 0)
  const before = await Promise.all(probes.map((probe) => other.measure(probe, windowMs)))
  const rss = await residentBytes(pid)
  const worker = new Worker(join(import.meta.dirname, 'hostile-worker.ts'), { workerData: { form: name, isWhole, hostile } })
  try {
    await once(worker, 'message')
    const during = await Promise.all(probes.map((probe) => other.measure(probe, windowMs)))
    const grownMiB = Math.round(((await residentBytes(pid)) - rss) / MiB)
    return probes.map((probe, at) => {
      const [quiet, noisy] = [before[at], during[at]]
      if (quiet === undefined || noisy === undefined) throw new Error(`${probe} was not measured.`)
      return { form: name, load, probe, before: quiet.times, during: noisy.times, failures: noisy.failures, grownMiB }
    })
  } finally {
    await worker.terminate()
  }
}

/** The server may still finish what an earlier form left. */
async function settle(other: OtherTenant): Promise<void> {
  for (let attempt = 0; attempt < SETTLE_ATTEMPTS; attempt++) if ((await other.measure('requests', SETTLE_MS)).times.p99 < QUIET_MS) return
}

/** Of the server and its children, such as the gateway. Throws when the server has ended. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const own = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean)
  const others = await Promise.all(children.map((child) => residentBytes(Number(child)).catch(() => 0)))
  return others.reduce((sum, bytes) => sum + bytes, own)
}
