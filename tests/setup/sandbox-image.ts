import type { TestProject } from 'vitest/node'
import { ensureSandboxImage } from '../../scripts/setup/sandbox-image.ts'
import { labelContainers } from './test-label.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The tag of the sandbox image for the present content of runtime-image/. */
    sandboxImage: string
  }
}

/** Builds the sandbox image when it is missing; tests read its tag with `inject('sandboxImage')`. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide('sandboxImage', await ensureSandboxImage((line) => console.error(line)))
  return labelContainers(project)
}
