import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildStacks, type Stacks } from '../../infra/build-stacks.ts'
import { readConfig } from '../../infra/config.ts'

const CDK_JSON = join(import.meta.dirname, '..', '..', 'cdk.json')
export const context = (JSON.parse(readFileSync(CDK_JSON, 'utf8')) as { context: Record<string, unknown> }).context

export const STACKS = ['data', 'image', 'network', 'guard', 'service', 'operations'] as const
export type StackName = (typeof STACKS)[number]
export interface Resource {
  Type: string
  Properties: Record<string, unknown>
  DeletionPolicy?: string
  UpdateReplacePolicy?: string
}
export type Templates = Record<StackName, { Resources: Record<string, Resource>; Outputs?: Record<string, unknown> }>

/** The app as `cdk synth` builds it, with these settings changed, and without bundles: they are checked elsewhere. */
export function buildApp(
  changes: Record<string, unknown> = {},
  outdir?: string,
  toolTypes: readonly string[] = [],
): { readonly app: App; readonly stacks: Stacks } {
  const app = new App({
    ...(outdir === undefined ? {} : { outdir }),
    context: { ...context, 'aws:cdk:bundling-stacks': [], 'aws:cdk:disable-stack-trace': true },
  })
  return {
    app,
    stacks: buildStacks(app, readConfig({ ...(context.cellblock as object), stage: 'prod', ...changes }), '0123456789ab', { toolTypes }),
  }
}

/** Every stack's template, as CloudFormation gets it. */
export function synthesise(changes: Record<string, unknown> = {}, toolTypes: readonly string[] = []): Templates {
  const { stacks } = buildApp(changes, undefined, toolTypes)
  return Object.fromEntries(STACKS.map((name) => [name, Template.fromStack(stacks[name]).toJSON()])) as Templates
}
