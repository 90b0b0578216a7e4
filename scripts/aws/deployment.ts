import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig, type Config } from '../../infra/config.ts'
import { readSetupConfig } from '../setup/config.ts'
import type { Progress } from '../setup/progress.ts'

export const PROJECT = join(import.meta.dirname, '..', '..')

/** In the order in which they are made; they are removed the other way round. */
export const PARTS = ['Data', 'Image', 'Network', 'Guard', 'Service', 'Operations'] as const
export type Part = (typeof PARTS)[number]

interface AwsKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** What is deployed, and how the account is reached. */
export interface Deployment {
  readonly config: Config
  /** What `config` was read from, for the CDK app to read. */
  readonly context: unknown
  /** The CDK app, as `cdk --app` takes it. */
  readonly app: string
  /** Where synthesis writes, a folder of its own for each deployment that runs at one time. */
  readonly output: string
  readonly env: NodeJS.ProcessEnv
  /** How the SDK's clients reach the account; empty: as the environment says. */
  readonly sdk: { readonly endpoint?: string; readonly region?: string; readonly credentials?: AwsKeys }
  /** The templates let the data go with its stack. */
  readonly removesData?: boolean
  /** All of them in a real account; an emulated one lacks some. */
  readonly parts: readonly Part[]
  readonly say: Progress
}

export const stackName = ({ config }: Pick<Deployment, 'config'>, part: Part): string => `Cellblock-${config.stage}-${part}`

/** The deployment that `cdk.json` describes, in the account of the caller's credentials. */
export async function ownDeployment(say: Progress): Promise<Deployment> {
  const { app, context } = JSON.parse(await readFile(join(PROJECT, 'cdk.json'), 'utf8')) as { app: string; context: { cellblock: unknown } }
  return {
    config: readConfig(context.cellblock),
    context: context.cellblock,
    app,
    output: join(PROJECT, 'cdk.out'),
    env: readSetupConfig().environment,
    sdk: {},
    parts: PARTS,
    say,
  }
}
