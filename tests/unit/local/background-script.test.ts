import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runInBackground } from '../../../services/entries/local/background-script.ts'

const folder = await mkdtemp(join(tmpdir(), 'background-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

async function scriptOf(name: string, code: string): Promise<string> {
  const path = join(folder, `${name}.mjs`)
  await writeFile(path, code)
  return path
}

it('reports the steps, the output and the priority of a script', async () => {
  const script = await scriptOf(
    'good',
    `import { getPriority } from 'node:os'; console.error('one'); console.error('two'); console.log(getPriority(), process.argv[2])`,
  )
  const steps: string[] = []
  const { ended } = runInBackground(script, ['argument'], { onStep: (line) => steps.push(line) })
  expect(await ended).toMatchObject({ isGood: true, wasStopped: false, output: '19 argument', lastStep: 'two' })
  expect(steps).toEqual(['one', 'two'])
})

it('reports why a script failed', async () => {
  const script = await scriptOf('bad', `console.error('the disk is full'); process.exitCode = 3`)
  expect(await runInBackground(script, []).ended).toMatchObject({
    isGood: false,
    output: null,
    lastStep: 'the disk is full',
  })
})

it('stops a script', async () => {
  const script = await scriptOf('endless', `console.error('started'); setInterval(() => undefined, 1_000)`)
  const started = Promise.withResolvers<string>()
  const background = runInBackground(script, [], { onStep: started.resolve })
  expect(await started.promise).toBe('started')
  background.stop()
  expect(await background.ended).toMatchObject({ isGood: false, wasStopped: true })
})

it('starts a script when the work before it has ended, even if that failed', async () => {
  const script = await scriptOf('late', `console.log(Date.now())`)
  const before = Promise.withResolvers<void>()
  const { ended } = runInBackground(script, [], { after: before.promise })
  const failedAt = Date.now()
  before.reject(new Error('The pool could not be filled.'))
  const { isGood, output } = await ended
  expect(isGood).toBe(true)
  expect(Number(output)).toBeGreaterThanOrEqual(failedAt)
})

it('never starts a script that is stopped before the work before it has ended', async () => {
  const script = await scriptOf('unwanted', `console.error('started')`)
  const steps: string[] = []
  const background = runInBackground(script, [], { after: new Promise(() => undefined), onStep: (line) => steps.push(line) })
  background.stop()
  expect(await background.ended).toMatchObject({ isGood: false, wasStopped: true })
  expect(steps).toEqual([])
})
