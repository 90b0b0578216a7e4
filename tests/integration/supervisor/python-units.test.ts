import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, it } from 'vitest'

const FOLDER = join(import.meta.dirname, '../../../runtime-image')

it('the supervisor passes its own unit tests, inside the image it ships in', async () => {
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
    '-m',
    'unittest',
    'discover',
    '-t',
    '/tests',
    'tests',
  ])
  const [, ran] = /^Ran (\d+) tests? in .+\n\nOK\n$/m.exec(stderr) ?? []
  expect(Number(ran)).toBeGreaterThan(20)
})
