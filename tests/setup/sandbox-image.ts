import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { ensureSandboxImage } from '../../scripts/sandbox-image.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Tag of the sandbox image for the present content of runtime-image/. */
    sandboxImage: string
    /** Label of containers that a test starts by itself: what is left of them goes at the end of the run. */
    testLabel: string
  }
}

const run = promisify(execFile)

/**
 * Builds the sandbox image when it is missing; tests read its tag with `inject('sandboxImage')`. A test whose patience ends while its sandbox starts
 * cannot remove it, so what has the run's label afterwards is removed.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const testLabel = `cellblock.test=${randomBytes(8).toString('hex')}`
  project.provide('sandboxImage', await ensureSandboxImage((line) => console.error(line)))
  project.provide('testLabel', testLabel)
  return async () => {
    const { stdout } = await run('docker', ['ps', '--all', '--quiet', '--filter', `label=${testLabel}`])
    const left = stdout.split('\n').filter((id) => id !== '')
    if (left.length > 0) await run('docker', ['rm', '--force', '--volumes', ...left])
  }
}
