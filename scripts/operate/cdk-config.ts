import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const CDK_JSON = join(import.meta.dirname, '../../cdk.json')

/** The value that `infra/config.ts` checks: what a deployment from this folder would use. */
export async function readCdkConfig(path: string = CDK_JSON): Promise<unknown> {
  const { context } = JSON.parse(await readFile(path, 'utf8')) as { readonly context?: Readonly<Record<string, unknown>> }
  return context?.['cellblock']
}
