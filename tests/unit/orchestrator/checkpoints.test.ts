import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { Checkpoints } from '../../../services/adapters/drivers/docker/checkpoints.ts'

const root = mkdtempSync(join(tmpdir(), 'checkpoints-'))
afterAll(() => rmSync(root, { recursive: true }))
const checkpointsOf = (engine: string): Checkpoints => new Checkpoints({ engine, program: '/runsc', args: [], root })

it('what removed containers left is deleted, and nothing of another engine of the machine', async () => {
  const [ours, theirs] = [checkpointsOf('/data'), checkpointsOf('/other-data')]
  const next = { checkpointId: 'c', bytes: 0 }
  for (const containerId of ['kept', 'removed']) await ours.prepare(containerId, next)
  await theirs.prepare('of-another-engine', next)
  mkdirSync(join(root, 'of-an-earlier-version', 'c'), { recursive: true })
  await ours.removeOthers(() => Promise.resolve(['kept']))
  expect(readdirSync(root).toSorted()).toEqual(['kept', 'of-another-engine'])
  await theirs.removeOthers(() => Promise.resolve([]))
  expect(readdirSync(root)).toEqual(['kept'])
})
