import { Tags, type App } from 'aws-cdk-lib'
import type { Config } from './config.ts'
import { DataStack } from './stacks/data-stack.ts'

export interface Stacks {
  readonly data: DataStack
}

/** The whole deployment. It asks no account anything: the same stacks come out on every machine. */
export function buildStacks(app: App, config: Config): Stacks {
  const stack = (part: string) => `Cellblock-${config.stage}-${part}`
  const data = new DataStack(app, stack('Data'), { config, description: 'Cellblock: table, objects, queues and secrets (kept)', terminationProtection: true })
  Tags.of(app).add('cellblock:stage', config.stage)
  return { data }
}
