import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { PRINT } from '../sides/print.ts'
import type { Bench } from '../bench.ts'
import { createApiClient } from '../sides/api-client.ts'
import { summarize } from '../statistics.ts'

const ROOT = join(import.meta.dirname, '../../..')
const KEY = 'ck_bench_0123456789abcdef0123456789'
const READY = /ready at (http:\/\/\S+)/
const MAX_START_MS = 120_000

interface Start {
  /** Until the line with the address. */
  readonly listeningMs: number
  /** Until the first execution of a new container was answered. */
  readonly answeredMs: number
}

/** Runs the script of `npm start`, without npm, until its first answer; then stops it. */
async function startOnce(): Promise<Start> {
  const startedAt = performance.now()
  const child = spawn('node', [join(ROOT, 'scripts/bootstrap.mjs'), 'start', '--no-install', '--image', 'slim'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, PORT: '0', CELLBLOCK_API_KEY: KEY, CELLBLOCK_SANDBOX_IMAGE: undefined },
  })
  const exited = once(child, 'exit')
  try {
    const url = await Promise.race([addressOf(child), failLater()])
    const listeningMs = performance.now() - startedAt
    const api = createApiClient(url, KEY)
    try {
      await api.run(await api.createContainer(), PRINT)
      return { listeningMs, answeredMs: performance.now() - startedAt }
    } finally {
      await api.close()
    }
  } finally {
    child.kill('SIGTERM')
    await exited
  }
}

async function addressOf({ stdout }: ReturnType<typeof spawn>): Promise<string> {
  if (stdout !== null)
    for await (const line of createInterface({ input: stdout })) {
      const url = READY.exec(line)?.[1]
      if (url !== undefined) return url
    }
  throw new Error('npm start ended before it was ready.')
}

async function failLater(): Promise<never> {
  await wait(MAX_START_MS, undefined, { ref: false })
  throw new Error('npm start was not ready after two minutes.')
}

/** From the command to the first answer, with the image, the packages and the page already made. */
export const ready: Bench = {
  name: 'ready',
  title: 'npm start until the first answer, everything cached',
  async run({ isQuick }) {
    // The first start fills the caches.
    await startOnce()
    const starts: Start[] = []
    for (let run = 0; run < (isQuick ? 2 : 7); run++) starts.push(await startOnce())
    const seconds = (ms: readonly number[]) =>
      summarize(
        's',
        ms.map((value) => value / 1_000),
      )
    const figures = {
      ready_answer: seconds(starts.map(({ answeredMs }) => answeredMs)),
      ready_listening: seconds(starts.map(({ listeningMs }) => listeningMs)),
    }
    return { figures, ratios: { ready_s: figures.ready_answer.median } }
  },
}
