import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { NativeClient } from '../support/native-client.ts'

/** A running service. */
export interface Target {
  readonly native: NativeClient
  /** Requests a link of the service; `fetch` where its host name resolves. */
  readonly open: (url: string) => Promise<Response>
}

const plainOutput = (outputs: readonly { data?: Readonly<Record<string, unknown>> }[] = []) => outputs.at(-1)?.data?.['text/plain']

/** Generous, because a start may be slow on a busy machine. */
const TIMEOUT_MS = 180_000

/** The behaviour of executions, events and files for a client, wherever the service runs. */
export function executionsSuite(server: () => Target): void {
  const open = (url: string): Promise<Response> => server().open(url)
  /** A shared container for code without side effects; a new one costs a start. */
  let shared: string
  beforeAll(async () => {
    shared = await server().native.createContainer()
  })

  describe('an execution', { timeout: TIMEOUT_MS }, () => {
    it('returns its outputs with separate stdout and stderr', async () => {
      const execution = await server().native.run(shared, 'import sys\nprint("out")\nprint("err", file=sys.stderr)\n6 * 7')
      expect(execution).toMatchObject({
        object: 'execution',
        status: 'succeeded',
        reason: null,
        stdout: 'out\n',
        stderr: 'err\n',
        error: null,
        files: [],
        lost: [],
      })
      expect(plainOutput(execution.outputs)).toBe('42')
      expect(execution.usage['peak_memory_bytes']).toBeGreaterThan(10_000_000)
      expect(execution.usage['run_ms']).toBeGreaterThan(0)
    })

    it('keeps variables, imports and the working directory for the next execution', async () => {
      const container = await server().native.createContainer()
      await server().native.run(container, 'import math, os\nos.makedirs("deep", exist_ok=True)\nx = math.pi\n%cd -q deep')
      const next = await server().native.run(container, 'import os\nprint(round(math.sin(x), 3), os.getcwd())')
      expect(next.stdout).toBe('0.0 /mnt/data/deep\n')
    })

    it('runs shell lines and magics', async () => {
      const execution = await server().native.run(
        shared,
        '!echo from the shell\n%precision 2\nimport subprocess; subprocess.run(["echo", "child"]);',
      )
      expect(execution.stdout).toContain('from the shell')
      expect(execution.stdout).toContain('child')
      const bash = await server().native.run(shared, '%%bash\nfor i in 1 2 3; do echo n$i; done')
      expect(bash.stdout).toBe('n1\nn2\nn3\n')
    })

    it('returns every MIME type unchanged', async () => {
      const execution = await server().native.run(
        shared,
        [
          'from IPython.display import display, HTML, SVG, Latex, JSON, Markdown',
          'display(HTML("<b>h</b>")); display(SVG("<svg xmlns=\\"http://www.w3.org/2000/svg\\"/>")); display(Latex("$x$")); display(JSON({"a": [1]})); display(Markdown("*m*"))',
          'import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()',
          'display({"application/vnd.vegalite.v5+json": {"mark": "bar"}}, raw=True)',
          'import plotly.graph_objects as go; display({"application/vnd.plotly.v1+json": go.Figure(go.Bar(y=[1])).to_plotly_json()}, raw=True)',
          'import pandas as pd; pd.DataFrame({"a": [1]})',
        ].join('\n'),
      )
      expect(execution.status).toBe('succeeded')
      const mimes = new Set(execution.outputs?.flatMap((output) => Object.keys(output.data ?? {})))
      for (const mime of [
        'text/html',
        'image/svg+xml',
        'text/latex',
        'application/json',
        'text/markdown',
        'image/png',
        'application/vnd.vegalite.v5+json',
        'application/vnd.plotly.v1+json',
      ]) {
        expect(mimes, mime).toContain(mime)
      }
    })

    it('ends failed with the error when the code raises, and the container stays usable', async () => {
      const raised = await server().native.run(shared, 'kept = 1\n1 / 0')
      expect(raised).toMatchObject({ status: 'failed', reason: 'error', error: { name: 'ZeroDivisionError', value: 'division by zero' } })
      expect(raised.error?.traceback.length).toBeGreaterThan(0)
      const invalid = await server().native.run(shared, 'def (')
      expect(invalid).toMatchObject({ status: 'failed', reason: 'error', error: { name: 'SyntaxError' } })
      expect((await server().native.run(shared, 'print(kept)')).stdout).toBe('1\n')
    })

    it('runs the cells of a notebook and stops at the first error by default', async () => {
      const cell = (source: string | string[], cell_type = 'code') => ({
        cell_type,
        metadata: {},
        source,
        ...(cell_type === 'code' ? { outputs: [], execution_count: null } : {}),
      })
      const notebook = {
        nbformat: 4,
        nbformat_minor: 5,
        metadata: {},
        cells: [cell('# Title', 'markdown'), cell(['a = 1\n', 'a + 1']), cell('1/0'), cell('print("after")')],
      }
      const stopped = await server().native.run(shared, { notebook })
      expect(stopped).toMatchObject({ status: 'failed', reason: 'error' })
      expect(stopped.cells?.map((c) => [c.index, c.status])).toEqual([
        [1, 'ok'],
        [2, 'error'],
        [3, 'aborted'],
      ])
      const whole = await server().native.run(shared, { notebook, on_error: 'continue' })
      expect(whole.cells?.map((c) => [c.index, c.status])).toEqual([
        [1, 'ok'],
        [2, 'error'],
        [3, 'ok'],
      ])
      expect(whole.stdout).toBe('after\n')
      const executed = await server().native.json<{ nbformat: number; cells: { cell_type: string; id: string; outputs?: unknown[] }[] }>(
        'GET',
        `/v1/executions/${whole.id}/notebook.ipynb`,
      )
      expect(executed.nbformat).toBe(4)
      expect(executed.cells.map((c) => c.cell_type)).toEqual(['markdown', 'code', 'code', 'code'])
      expect(new Set(executed.cells.map((c) => c.id)).size).toBe(4)
      expect(executed.cells[3]?.outputs).toHaveLength(1)
    })

    it('is stopped at its time limit and reports what was lost', async () => {
      const container = await server().native.createContainer()
      const interrupted = await server().native.run(container, {
        code: 'kept = 5\nimport time\nwhile True: time.sleep(0.05)',
        timeout_seconds: 1,
      })
      expect(interrupted).toMatchObject({ status: 'timed_out', reason: 'deadline' })
      expect((await server().native.run(container, 'print(kept)')).stdout).toBe('5\n')
      const stubborn = await server().native.run(container, {
        code: 'import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n  try: time.sleep(9)\n  except BaseException: pass',
        timeout_seconds: 1,
      })
      expect(stubborn.status).toBe('timed_out')
      expect(stubborn.lost.map((lost) => lost.what)).toContain('variables')
      expect((await server().native.run(container, 'print("again")')).stdout).toBe('again\n')
    })

    it('can be cancelled while it runs and while it is queued', async () => {
      const container = await server().native.createContainer()
      await server().native.run(container, 'pass')
      const running = await server().native.run(container, 'import time\nprint("on", flush=True)\ntime.sleep(600)', 0)
      const waiting = await server().native.run(container, 'print("never")', 0)
      await expect
        .poll(async () => (await server().native.json<{ status: string }>('GET', `/v1/executions/${running.id}`)).status)
        .toBe('running')
      await server().native.json('POST', `/v1/executions/${waiting.id}/cancel`)
      await server().native.json('POST', `/v1/executions/${running.id}/cancel`)
      expect(await server().native.ended(running.id)).toMatchObject({ status: 'cancelled', reason: 'caller' })
      expect(await server().native.ended(waiting.id)).toMatchObject({ status: 'cancelled', reason: 'caller', stdout: '' })
      expect((await server().native.run(container, 'print("next")')).stdout).toBe('next\n')
    })

    it('runs in the order of acceptance', async () => {
      await server().native.run(shared, 'seen = []')
      const ids: string[] = []
      for (let i = 0; i < 8; i++) ids.push((await server().native.run(shared, `import time; time.sleep(0.02); seen.append(${i})`, 0)).id)
      await Promise.all(ids.map((id) => server().native.ended(id)))
      expect((await server().native.run(shared, 'print(seen)')).stdout).toBe('[0, 1, 2, 3, 4, 5, 6, 7]\n')
    })

    it('keeps head and tail of a flood of output and reports how much was cut', async () => {
      const flood = await server().native.run(shared, 'print("first")\nfor _ in range(300_000): print("x" * 20)\nprint("last")')
      expect(flood.status).toBe('succeeded')
      expect(flood.stdout.startsWith('first\n')).toBe(true)
      expect(flood.stdout.trimEnd().endsWith('last')).toBe(true)
      expect(flood.stdout.length).toBeLessThan(1_400_000)
      expect(flood.lost.find((lost) => lost.what === 'stdout')?.reason).toMatch(/63000\d\d/)
    })

    it('reports lost variables after the death of its kernel, and the container stays usable', async () => {
      const container = await server().native.createContainer()
      const died = await server().native.run(container, 'import os; os._exit(3)')
      expect(died).toMatchObject({ status: 'failed', reason: 'kernel_died' })
      expect(died.lost.map((lost) => lost.what)).toContain('variables')
      expect((await server().native.run(container, 'print("alive")')).stdout).toBe('alive\n')
    })

    it('has no network', async () => {
      const execution = await server().native.run(shared, 'import urllib.request\nurllib.request.urlopen("http://example.com", timeout=3)')
      expect(execution).toMatchObject({ status: 'failed', reason: 'error', error: { name: 'URLError' } })
    })
  })

  describe('the events of an execution', { timeout: TIMEOUT_MS }, () => {
    it('contain the first output at once, are numbered from 0 and end with done', async () => {
      await server().native.run(shared, 'pass')
      const code = 'import time\nfor i in range(8):\n  print(i, flush=True)\n  time.sleep(0.25)'
      const { id } = await server().native.run(shared, code, 0)
      const events = []
      for await (const event of server().native.events(id)) events.push(event)
      expect(events.map((event) => event.id)).toEqual(events.map((_, index) => index))
      expect(events.map((event) => event.event)).toEqual(expect.arrayContaining(['status', 'stdout', 'done']))
      expect(events.at(-1)).toMatchObject({ event: 'done', data: { status: 'succeeded' } })
      const texts = events.filter((event) => event.event === 'stdout')
      expect(texts.map((event) => event.data['text']).join('')).toBe('0\n1\n2\n3\n4\n5\n6\n7\n')
      expect(texts.length).toBeGreaterThanOrEqual(5)
    })

    it('resume after the last sequence number of a client', async () => {
      const { id } = await server().native.run(shared, 'for i in range(3): print(i)')
      const all = []
      for await (const event of server().native.events(id)) all.push(event.id)
      const rest = []
      for await (const event of server().native.events(id, 1)) rest.push(event.id)
      expect(rest).toEqual(all.slice(2))
    })
  })

  describe('files', { timeout: TIMEOUT_MS }, () => {
    it('are uploaded, changed and collected as versions with working links', async () => {
      const container = await server().native.createContainer()
      const form = new FormData()
      form.set('file', new File(['a,b\n1,2\n'], 'in.csv'))
      const uploaded = (await (await server().native.call('POST', `/v1/containers/${container}/files`, form)).json()) as {
        id: string
        path: string
        bytes: number
      }
      expect(uploaded).toMatchObject({ path: '/mnt/data/in.csv', bytes: 8 })
      const made = await server().native.run(
        container,
        'import os, pandas as pd\ndf = pd.read_csv("/mnt/data/in.csv")\nos.makedirs("sub/x", exist_ok=True); os.makedirs("sub/y", exist_ok=True)\ndf.to_csv("sub/x/out.csv", index=False)\nopen("sub/y/out.csv", "w").write("other")\nopen("in.csv", "a").write("3,4\\n")',
      )
      expect(made.status).toBe('succeeded')
      const byPath = new Map(made.files.map((file) => [file.path.replace(/^\/mnt\/data\//, ''), file]))
      expect([...byPath.keys()].toSorted()).toEqual(['in.csv', 'sub/x/out.csv', 'sub/y/out.csv'])
      expect(byPath.get('in.csv')).toMatchObject({ is_new: false, modified_from: uploaded.id, bytes: 12 })
      for (const file of made.files) {
        const bytes = Buffer.from(await (await open(file.url)).arrayBuffer())
        expect(bytes.length).toBe(file.bytes)
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(file.sha256)
      }
      const listed = await server().native.json<{ data: { path: string }[] }>('GET', `/v1/containers/${container}/files`)
      expect(listed.data).toHaveLength(3)
      const content = await server().native.call('GET', `/v1/containers/${container}/files/${uploaded.id}/content`)
      expect(content.status).toBe(302)
      expect(await (await open(content.headers.get('location') ?? '')).text()).toBe('a,b\n1,2\n')
    })

    it('uploaded or deleted between executions are present or absent in the next one', async () => {
      const container = await server().native.createContainer()
      await server().native.run(container, 'pass')
      const form = new FormData()
      form.set('file', new File(['late'], 'late.txt'))
      const { id } = (await (await server().native.call('POST', `/v1/containers/${container}/files`, form)).json()) as { id: string }
      const read = await server().native.run(container, 'print(open("late.txt").read())')
      expect(read).toMatchObject({ stdout: 'late\n', files: [] })
      expect((await server().native.call('DELETE', `/v1/containers/${container}/files/${id}`)).status).toBe(200)
      expect((await server().native.run(container, 'import os; print(os.listdir("."))')).stdout).toBe('[]\n')
    })
  })
}
