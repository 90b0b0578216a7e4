import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const CDK_JSON = join(import.meta.dirname, '../../cdk.json')

/** The settings of a deployment from this folder, before `infra/config.ts` validates them. */
export async function readCdkConfig(path: string = CDK_JSON): Promise<unknown> {
  const { context } = JSON.parse(await readFile(path, 'utf8')) as { readonly context?: Readonly<Record<string, unknown>> }
  return context?.['cellblock']
}
