import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command, Requirement } from '../commands.ts'

/** Whether cdk.json lets CodeBuild build the images. The settings are checked later; this runs without packages. */
async function buildsRemotely(root: string): Promise<boolean> {
  const { context } = JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8')) as {
    readonly context?: { readonly cellblock?: { readonly deployment?: { readonly imageBuilder?: unknown } } }
  }
  return context?.cellblock?.deployment?.imageBuilder === 'codebuild'
}

/** What a command needs on this machine: without Docker if CodeBuild builds the images. */
export async function remainingNeeds({ needs, mayBuildRemotely = false }: Command, root: string): Promise<readonly Requirement[]> {
  return mayBuildRemotely && (await buildsRemotely(root)) ? needs.filter((need) => need !== 'engine' && need !== 'image') : needs
}
