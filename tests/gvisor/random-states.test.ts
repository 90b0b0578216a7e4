import { afterAll, beforeAll, expect, it } from 'vitest'
import { ensureSandboxImage } from '../../scripts/setup/sandbox-image.ts'
import type { ExecutionLanguage } from '../../services/model/executions/language.ts'
import { startForkingBench, type ForkingBench } from './forking-bench.ts'

let forking: ForkingBench
beforeAll(async () => {
  // It has Node and R.
  forking = await startForkingBench({ image: await ensureSandboxImage(() => undefined, { variant: 'full' }) })
}, 3_600_000)
afterAll(() => forking.bench.stop())

/** What a session does before it is copied, and the numbers that it draws then: one a word. */
const LANGUAGES: readonly {
  readonly language: ExecutionLanguage
  readonly before: string
  readonly draw: string
  readonly numbers: number
}[] = [
  {
    language: 'python',
    before: 'import random, secrets, ssl, uuid, numpy\nrandom.seed(1); numpy.random.seed(1); ssl.RAND_bytes(1)',
    draw: 'print(random.random(), numpy.random.random(), uuid.uuid4(), secrets.token_hex(8), ssl.RAND_bytes(8).hex())',
    numbers: 5,
  },
  {
    language: 'javascript',
    before: "const crypto = require('node:crypto')\nconsole.log(Math.random(), crypto.randomBytes(8).toString('hex'))",
    draw: "console.log(Math.random(), crypto.randomBytes(8).toString('hex'), crypto.randomUUID(), crypto.randomInt(2 ** 40))",
    numbers: 4,
  },
  { language: 'r', before: 'set.seed(1)', draw: "cat(format(runif(1), digits = 15), format(rnorm(1), digits = 15), '\\n')", numbers: 2 },
  { language: 'bash', before: 'RANDOM=1', draw: 'echo $RANDOM$RANDOM$RANDOM $(openssl rand -hex 8)', numbers: 2 },
]

it('copies draw other random numbers in every language than the source and than one another', async () => {
  const { bench } = forking
  const source = await forking.withState('pass')
  for (const { language, before } of LANGUAGES)
    expect([language, (await bench.run(source.id, before, language)).status]).toEqual([language, 'succeeded'])
  const all = [...(await forking.fork(await bench.container(source.id), 2)), source]
  for (const { language, draw, numbers } of LANGUAGES) {
    const drawn: (readonly string[])[] = []
    for (const container of all) drawn.push((await forking.run(container, draw, language)).stdout?.trim().split(/ +/) ?? [])
    expect([language, drawn.map(({ length }) => length)]).toEqual([language, all.map(() => numbers)])
    for (let column = 0; column < numbers; column++)
      expect([language, column, new Set(drawn.map((row) => row[column])).size]).toEqual([language, column, all.length])
  }
}, 240_000)
