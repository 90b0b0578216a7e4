import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

interface Restartable extends AsyncDisposable {
  /** On the data folder of the previous server. */
  start(env?: Readonly<Record<string, string>>): Promise<LocalServerProcess>
}

async function restartable(): Promise<Restartable> {
  await using made = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'cellblock-restart-'))
  made.defer(() => rm(dataDir, { recursive: true, force: true }))
  const everything = made.move()
  return {
    async start(env = {}) {
      const server = await startServer({ dataDir, env })
      everything.defer(async () => void (await server.stop()))
      return server
    },
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  }
}

describe.concurrent('a server that is killed', () => {
  it('resumes running code: it runs once, and no output is lost or repeated', async ({ expect }) => {
    await using server = await restartable()
    const first = await server.start()
    const container = await first.native.createContainer()
    await first.native.run(container, 'runs = 0')
    const code =
      'import time\nruns += 1\nfor i in range(60):\n  print(i, flush=True)\n  time.sleep(0.1)\nopen("after.txt", "w").write(str(runs))'
    const { id } = await first.native.run(container, code, 0)
    for await (const event of first.native.events(id)) if (event.event === 'stdout') break
    await first.kill()

    const second = await server.start()
    const execution = await second.native.ended(id)
    expect(execution).toMatchObject({ status: 'succeeded', stdout: Array.from({ length: 60 }, (_, i) => `${i}\n`).join('') })
    expect(execution.files.map((file) => file.path.replace(/^\/mnt\/data\//, ''))).toEqual(['after.txt'])
    const events = []
    for await (const event of second.native.events(id)) events.push(event)
    expect(events.map((event) => event.id)).toEqual(events.map((_, index) => index))
    expect(
      events
        .filter((event) => event.event === 'stdout')
        .map((event) => event.data['text'])
        .join(''),
    ).toBe(execution.stdout)
    expect((await second.native.run(container, 'print(runs)')).stdout).toBe('1\n')
  }, 120_000)

  it('ends every accepted job once and in order', async ({ expect }) => {
    await using server = await restartable()
    const first = await server.start()
    const containers = await Promise.all([first.native.createContainer('a'), first.native.createContainer('b')])
    const ids: string[] = []
    for (let i = 0; i < 10; i++) {
      for (const container of containers) {
        ids.push((await first.native.run(container, `import time; time.sleep(0.1)\nopen("log.txt", "a").write("${i} ")`, 0)).id)
      }
    }
    await first.kill()

    const second = await server.start()
    const ended = await Promise.all(ids.map((id) => second.native.ended(id)))
    expect(ended.map((execution) => execution.status)).toEqual(ids.map(() => 'succeeded'))
    for (const container of containers) {
      expect((await second.native.run(container, 'print(open("log.txt").read())')).stdout).toBe('0 1 2 3 4 5 6 7 8 9 \n')
    }
  }, 180_000)

  it('reports lost variables and keeps the files when the sandbox was lost too', async ({ expect }) => {
    await using server = await restartable()
    const first = await server.start({ CELLBLOCK_SAVE_SECONDS: '0' })
    const container = await first.native.createContainer()
    await first.native.run(container, 'x = 1\nopen("kept.txt", "w").write("kept")')
    await first.stop()

    const second = await server.start()
    const execution = await second.native.run(container, 'print(open("kept.txt").read(), "x" in globals())')
    expect(execution).toMatchObject({ status: 'succeeded', stdout: 'kept False\n', files: [] })
    expect(execution.lost.map((lost) => lost.what)).toEqual(['variables'])
    expect((await second.native.run(container, 'pass')).lost).toEqual([])
  }, 120_000)

  it('has saved the variables of idle containers when it was stopped instead of killed', async ({ expect }) => {
    await using server = await restartable()
    const first = await server.start()
    const container = await first.native.createContainer()
    await first.native.run(container, 'x = [1]\ny = x\nopen("kept.txt", "w").write("kept")')
    expect(await first.stop()).toBe(0)

    const second = await server.start()
    const execution = await second.native.run(container, 'print(open("kept.txt").read(), x, y is x)')
    expect(execution).toMatchObject({ status: 'succeeded', stdout: 'kept [1] True\n', lost: [] })
  }, 120_000)
})
