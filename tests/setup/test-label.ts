import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The label of containers that tests start themselves. Remaining ones are removed at the end of the run. */
    testLabel: string
  }
}

const run = promisify(execFile)

/** A test that times out while its sandbox starts cannot remove it. The returned function removes all containers with the run's label. */
export function labelContainers(project: Pick<TestProject, 'provide'>): () => Promise<void> {
  const testLabel = `cellblock.test=${randomBytes(8).toString('hex')}`
  project.provide('testLabel', testLabel)
  return async () => {
    const { stdout } = await run('docker', ['ps', '--all', '--quiet', '--filter', `label=${testLabel}`])
    const left = stdout.split('\n').filter((id) => id !== '')
    if (left.length > 0) await run('docker', ['rm', '--force', '--volumes', ...left])
  }
}
