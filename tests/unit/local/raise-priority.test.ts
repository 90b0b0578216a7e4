import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { raisePriority } from '../../../services/entries/local/raise-priority.ts'

const MODULE = join(import.meta.dirname, '../../../services/entries/local/raise-priority.ts')
const PROGRAM = `
import { readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { ${raisePriority.name} } from ${JSON.stringify(MODULE)}
${raisePriority.name}()
let session = 'none'
try { session = readFileSync('/proc/self/autogroup', 'utf8').trim() } catch {}
console.log(getPriority() + ' ' + session)
`
const isRoot = process.getuid?.() === 0

it('gives the server precedence where it may, and starts where it may not', async () => {
  // In a separate session, so that this one keeps its weight.
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', PROGRAM], { detached: true })
  const [printed, failed] = await Promise.all([text(child.stdout), text(child.stderr)])
  expect(failed).toBe('')
  const [priority, ...session] = printed.trim().split(' ')
  expect(priority).toBe(isRoot ? '-10' : '0')
  if (existsSync('/proc/self/autogroup')) expect(session.join(' ')).toMatch(isRoot ? / nice -10$/ : / nice 0$/)
})
