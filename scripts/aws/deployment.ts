import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig, type Config } from '../../infra/config.ts'
import { readSetupConfig } from '../setup/config.ts'
import type { Progress } from '../setup/progress.ts'

export const PROJECT = join(import.meta.dirname, '..', '..')

export type StackId = 'Data' | 'Image' | 'Network' | 'Guard' | 'Firewall' | 'Service' | 'Operations'

/** In the order of creation; they are deleted in reverse. */
export const stacksFor = ({ api }: Pick<Config, 'api'>): readonly StackId[] => [
  'Data',
  'Image',
  'Network',
  'Guard',
  ...(api.rateLimit === undefined ? [] : (['Firewall'] as const)),
  'Service',
  'Operations',
]

interface AwsKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** What to deploy, and how to reach the account. */
export interface Deployment {
  readonly config: Config
  /** The source of `config`, for the CDK app. */
  readonly context: unknown
  /** The CDK app, as `cdk --app` takes it. */
  readonly app: string
  /** Output folder of synthesis; concurrent deployments need different ones. */
  readonly output: string
  readonly env: NodeJS.ProcessEnv
  /** Options of the SDK clients; empty uses the environment. */
  readonly sdk: { readonly endpoint?: string; readonly region?: string; readonly credentials?: AwsKeys }
  /** The templates delete the data with its stack. */
  readonly removesData?: boolean
  /** All stacks in a real account; an emulated account does not support all. */
  readonly stacks: readonly StackId[]
  readonly progress: Progress
}

export const stackName = ({ config }: Pick<Deployment, 'config'>, stack: StackId): string => `Cellblock-${config.stage}-${stack}`

/** The deployment that `cdk.json` describes, in the account of the caller's credentials. */
export async function readDeployment(progress: Progress): Promise<Deployment> {
  const { app, context } = JSON.parse(await readFile(join(PROJECT, 'cdk.json'), 'utf8')) as { app: string; context: { cellblock: unknown } }
  const config = readConfig(context.cellblock)
  return {
    config,
    context: context.cellblock,
    app,
    output: join(PROJECT, 'cdk.out'),
    env: readSetupConfig().environment,
    sdk: {},
    stacks: stacksFor(config),
    progress,
  }
}
