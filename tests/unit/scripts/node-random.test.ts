import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { expect, it } from 'vitest'

const LANGUAGES = join(import.meta.dirname, '../../../runtime-image/supervisor/cellblock_supervisor/worker/languages')
/** Two sessions with one seed draw the same numbers, as two copies of one process do. */
const SEEDED = ['--no-warnings', '--random-seed=7']

interface Session {
  ask(language: string, code: string): Promise<{ readonly result: string | null; readonly error?: unknown }>
  end(): void
}

/** As the kernel starts it: cells on descriptor 3, answers on 4. */
function startSession(): Session {
  const child = spawn(process.execPath, [...SEEDED, join(LANGUAGES, 'node_session.cjs')], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'],
  })
  const cells = child.stdio[3] as Writable
  const answers = (child.stdio[4] as Readable).setEncoding('utf8')
  let text = ''
  answers.on('data', (piece: string) => void (text += piece))
  return {
    async ask(language, code) {
      cells.write(['{}', '', language, code].map((field) => `${field}\0`).join(''))
      await expect.poll(() => text.includes('\0'), { timeout: 10_000 }).toBe(true)
      const [answer = ''] = text.split('\0')
      text = text.slice(answer.length + 1)
      return JSON.parse(answer) as { readonly result: string | null }
    },
    end: () => void child.kill(),
  }
}

it('a session whose process was copied draws other numbers after its random states are renewed', async () => {
  const draw = 'JSON.stringify([Math.random(), Math.random()])'
  const sessions = [startSession(), startSession()]
  try {
    const before = await Promise.all(sessions.map((session) => session.ask('javascript', draw)))
    expect(before[0]?.result).toBe(before[1]?.result)
    for (const session of sessions) expect(await session.ask('renew random', '')).toEqual({ result: null })
    const after = await Promise.all(sessions.map((session) => session.ask('javascript', draw)))
    expect(after[0]?.result).not.toBe(after[1]?.result)
  } finally {
    for (const session of sessions) session.end()
  }
}, 30_000)

it('the functions that draw from the system have the form of those that they replace', () => {
  const script = `
const { renewRandom } = require(${JSON.stringify(join(LANGUAGES, 'node_random.cjs'))})
const crypto = require('node:crypto')
renewRandom()
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const numbers = Array.from({ length: 2000 }, Math.random)
const small = Array.from({ length: 200 }, () => crypto.randomInt(3, 6))
const words = crypto.randomFillSync(new Uint16Array(4), 1, 2)
const failed = [() => crypto.randomInt(5, 5), () => crypto.randomInt(0.5)].map((call) => { try { call() } catch (error) { return error.name } })
const later = new Promise((resolve) => crypto.randomBytes(3, (error, bytes) => resolve([error, bytes.length])))
const filled = new Promise((resolve) => crypto.randomFill(Buffer.alloc(64), (error, bytes) => resolve(bytes.some(Boolean))))
Promise.all([later, filled, import('node:crypto')]).then(([bytes, isFilled, module]) => console.log(JSON.stringify({
  uuids: [crypto.randomUUID(), globalThis.crypto.randomUUID(), crypto.webcrypto.randomUUID()].every((one) => uuid.test(one)),
  numbers: numbers.every((one) => one >= 0 && one < 1) && new Set(numbers).size === 2000,
  small: [...new Set(small)].toSorted(), words: [words[0], words[3]], failed, bytes, isFilled,
  values: crypto.getRandomValues(new Uint32Array(4)).some(Boolean),
  isSame: module.randomUUID === crypto.randomUUID,
  isOwn: crypto.webcrypto.getRandomValues.toString().includes('randomFillSync'),
})))`
  const shown = JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })) as unknown
  expect(shown).toEqual({
    ...{ uuids: true, numbers: true, small: [3, 4, 5], words: [0, 0], failed: ['RangeError', 'RangeError'], bytes: [null, 3] },
    ...{ isFilled: true, values: true, isSame: true, isOwn: true },
  })
})
