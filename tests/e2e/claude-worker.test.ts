import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import { ScriptedClaude, startRelay, type OnStep, type ToolCall } from '../support/scripted-claude.ts'

const MAIN = join(import.meta.dirname, '../../packages/cli/src/main.ts')
const IDLE_SECONDS = '1'

let server: LocalServerProcess
beforeAll(async () => void (server = await startServer({ env: { CELLBLOCK_POOL: '1' } })))
afterAll(() => server.stop())

function startWorker(
  claude: ScriptedClaude,
  { anthropic, cellblock }: { readonly anthropic: string; readonly cellblock: string },
): ChildProcess {
  return spawn(
    process.execPath,
    [MAIN, 'worker', 'claude', '--environment', claude.environmentId, '--sessions', '1', '--idle', IDLE_SECONDS],
    {
      env: {
        ...process.env,
        CELLBLOCK_URL: cellblock,
        CELLBLOCK_API_KEY: server.apiKey,
        ANTHROPIC_BASE_URL: anthropic,
        ANTHROPIC_ENVIRONMENT_KEY: claude.environmentKey,
      },
      stdio: 'ignore',
    },
  )
}

async function endWorker(worker: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = once(worker, 'exit')
  worker.kill(signal)
  await ended
}

/** Runs the calls to their end with one worker. Returns the results in the order of the calls. */
async function serve(calls: readonly ToolCall[]): Promise<readonly { readonly text: string; readonly isError: boolean }[]> {
  const claude = new ScriptedClaude(calls)
  const anthropic = await claude.start()
  const worker = startWorker(claude, { anthropic, cellblock: server.url })
  try {
    await expect.poll(() => claude.isDone).toBe(true)
    expect(claude.refused).toEqual([])
    return [...claude.results.values()].map(([result]) => result ?? { text: '', isError: true })
  } finally {
    await endWorker(worker, 'SIGTERM')
    claude.stop()
    const { data } = await server.native.json<{ data: { id: string }[] }>('GET', `/v1/containers?name=claude:${claude.sessionId}`)
    for (const { id } of data) await server.native.call('DELETE', `/v1/containers/${id}`)
  }
}

describe("a worker of Claude's managed agents", () => {
  it('serves the six tools in the container of the session', async () => {
    const bash = (command: string, more: object = {}): ToolCall => ({ name: 'bash', input: { command, ...more } })
    const results = await serve([
      bash('cd /tmp && export A=kept && mkdir -p /mnt/data/src && pwd'),
      bash('echo $A; pwd'),
      bash('echo out; ls /nothing'),
      bash('sleep 30', { timeout_ms: 1_000 }),
      { name: 'bash', input: { restart: true } },
      bash('echo "[$A]"'),
      { name: 'write', input: { file_path: 'src/a.txt', content: 'first\nsecond "quoted" \\ é 😀\nfirst\n' } },
      { name: 'read', input: { file_path: 'src/a.txt' } },
      { name: 'read', input: { file_path: '/mnt/data/src/a.txt', view_range: [2, 2] } },
      { name: 'edit', input: { file_path: 'src/a.txt', old_string: 'first', new_string: 'x' } },
      { name: 'edit', input: { file_path: 'src/a.txt', old_string: 'first', new_string: '$&', replace_all: true } },
      { name: 'edit', input: { file_path: 'src/none.txt', old_string: 'a', new_string: 'b' } },
      bash('cat /mnt/data/src/a.txt'),
      { name: 'glob', input: { pattern: '**/*.txt' } },
      { name: 'grep', input: { pattern: 'sec.nd', path: 'src' } },
      { name: 'grep', input: { pattern: '(' } },
    ])
    expect(results).toEqual([
      { text: '/tmp\n', isError: false },
      { text: 'kept\n/tmp\n', isError: false },
      { text: expect.stringMatching(/^out\n.*\/nothing.*No such file/s), isError: true },
      { text: expect.stringContaining('after 1 s'), isError: true },
      { text: 'The shell was restarted.', isError: false },
      { text: '[]\n', isError: false },
      { text: 'wrote 38 bytes to src/a.txt', isError: false },
      { text: 'first\nsecond "quoted" \\ é 😀\nfirst\n', isError: false },
      { text: 'second "quoted" \\ é 😀\n', isError: false },
      { text: expect.stringContaining('occurs 2 times'), isError: true },
      { text: 'edited src/a.txt (2 replacements)', isError: false },
      { text: expect.stringContaining('no such file'), isError: true },
      { text: '$&\nsecond "quoted" \\ é 😀\n$&\n', isError: false },
      { text: '/mnt/data/src/a.txt', isError: false },
      { text: '/mnt/data/src/a.txt:2:second "quoted" \\ é 😀', isError: false },
      { text: expect.stringContaining('grep: '), isError: true },
    ])
  })

  it('loses no tool call and runs none twice when it is killed at each step', { timeout: 600_000 }, async () => {
    const calls = Array.from({ length: 40 }, (_, index): readonly ToolCall[] => [
      {
        name: 'bash',
        input: { command: `echo ${index} >> /mnt/data/log.txt; [ -e /mnt/data/count.txt ] || echo -n 'count:' > /mnt/data/count.txt` },
      },
      { name: 'edit', input: { file_path: 'count.txt', old_string: 'count:', new_string: 'count:x' } },
    ]).flat()
    /** Each step before it has its effect, and after it, before the worker knows. */
    const planned: (readonly [step: string, when: 'before' | 'after'])[] = [
      'GET /v1/environments/*/work/poll',
      'POST /v1/environments/*/work/*/ack',
      'POST /v1/environments/*/work/*/heartbeat',
      'GET /v1/sessions/*',
      'GET /v1/sessions/*/events/stream',
      'GET /v1/sessions/*/events',
      'GET /v1/containers',
      'POST /v1/containers',
      'POST /v1/containers/*/executions',
      'GET /v1/executions/*',
      'POST /v1/sessions/*/events',
    ].flatMap((step) => [[step, 'before'] as const, [step, 'after'] as const])
    // A container is created once, so its kills come first.
    planned.sort(([a], [b]) => Number(b === 'POST /v1/containers') - Number(a === 'POST /v1/containers'))
    const killed: string[] = []
    let current: ChildProcess | null = null
    const onStep: OnStep = (step, when) => {
      const [next] = planned
      if (next === undefined || next[0] !== step || next[1] !== when || current === null) return
      planned.shift()
      killed.push(`${when} ${step}`)
      current.kill('SIGKILL')
    }
    const claude = new ScriptedClaude(calls, onStep)
    const anthropic = await claude.start()
    const relay = await startRelay(server.url, onStep)
    try {
      const wanted = planned.length
      while (!claude.isDone) {
        const worker = startWorker(claude, { anthropic, cellblock: relay.url })
        current = worker
        const ended = once(worker, 'exit').then(() => 'ended')
        const done = expect
          .poll(() => claude.isDone || worker.exitCode !== null || worker.signalCode !== null, { timeout: 120_000 })
          .toBe(true)
        await Promise.race([ended, done])
        if (claude.isDone) await endWorker(worker, 'SIGTERM')
        else await ended
        claude.expireLease()
      }
      expect(killed).toHaveLength(wanted)
      expect(claude.refused).toEqual([])
      const { data } = await server.native.json<{ data: { id: string }[] }>('GET', `/v1/containers?name=claude:${claude.sessionId}`)
      expect(data).toHaveLength(1)
      expect(calls.map((_, index) => claude.results.get(`sevt_call_${index}`)?.length)).toEqual(calls.map(() => 1))
      expect([...claude.results.values()].flat().filter(({ isError }) => isError)).toEqual([])
      const { stdout } = await server.native.run(data[0]?.id ?? '', 'print(open("log.txt").read().split(), open("count.txt").read())')
      const half = calls.length / 2
      expect(stdout).toBe(
        `${JSON.stringify(Array.from({ length: half }, (_, index) => String(index)))
          .replaceAll('"', "'")
          .replaceAll(',', ', ')} count:${'x'.repeat(half)}\n`,
      )
    } finally {
      current?.kill('SIGKILL')
      relay.stop()
      claude.stop()
    }
  })
})
