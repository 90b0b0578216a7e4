import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, it } from 'vitest'

const FOLDER = join(import.meta.dirname, '../../../runtime-image')

/** Each group has the time limit of a test, and a mutant needs only the group that kills it. */
const GROUPS = [
  ['unit tests a to h', 'test_[a-h]*.py'],
  ['unit tests i to r', 'test_[i-r]*.py'],
  ['unit tests s to z', 'test_[s-z]*.py'],
] as const

it.each(GROUPS)('the supervisor passes its own %s, inside the image it ships in', async (_, pattern) => {
  const { stderr } = await promisify(execFile)('docker', [
    'run',
    '--rm',
    '--network=none',
    '--read-only',
    '--tmpfs=/tmp',
    '--user=10001:10001',
    '--volume',
    `${FOLDER}/tests:/tests/tests:ro`,
    '--volume',
    `${FOLDER}/vectors:/vectors:ro`,
    '--env',
    'CELLBLOCK_VECTORS=/vectors',
    '--env',
    'PYTHONDONTWRITEBYTECODE=1',
    '--workdir=/tests',
    '--entrypoint=/usr/bin/python3',
    inject('sandboxImage'),
    // As the supervisor runs.
    '-O',
    '-m',
    'unittest',
    'discover',
    '-t',
    '/tests',
    '-s',
    'tests',
    '-p',
    pattern,
  ])
  const [, ran] = /^Ran (\d+) tests? in .+\n\nOK\n$/m.exec(stderr) ?? []
  expect(Number(ran)).toBeGreaterThan(20)
})
