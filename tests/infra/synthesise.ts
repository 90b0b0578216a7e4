import { App, type Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sourceAssets } from '../../infra/bundle/source-assets.ts'
import { Cellblock, type Stacks } from '../../infra/cellblock.ts'

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

export const IMAGE_TAGS = { slim: '0123456789ab', standard: '0123456789ab-standard', full: '0123456789ab-full' }

/** As `npm run deploy` synthesises. */
export const PUSHED_ASSETS = sourceAssets({ images: { kind: 'pushed', tags: IMAGE_TAGS }, siteFolder: null })

/** Settings of private ingress in a network of the operator. */
export const PRIVATE_INGRESS = {
  host: 'code.internal.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/one',
  vpcId: 'vpc-0123456789abcdef0',
  subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
}

/** The app as `cdk synth` builds it, with these settings changed, and without bundles, which are checked elsewhere. */
export function buildApp(
  changes: Record<string, unknown> = {},
  outdir?: string,
  toolTypes: readonly string[] = [],
): { readonly app: App; readonly stacks: Stacks } {
  const app = new App({
    ...(outdir === undefined ? {} : { outdir }),
    context: { ...context, 'aws:cdk:bundling-stacks': [], 'aws:cdk:disable-stack-trace': true },
  })
  const settings = { ...(context.cellblock as object), stage: 'prod', ...changes }
  return { app, stacks: new Cellblock(app, 'Cellblock', { settings, assets: PUSHED_ASSETS, toolTypes }).stacks }
}

/** Every stack's template, as CloudFormation gets it. */
export function synthesise(changes: Record<string, unknown> = {}, toolTypes: readonly string[] = []): Templates {
  const { stacks } = buildApp(changes, undefined, toolTypes)
  return Object.fromEntries(STACKS.map((name) => [name, Template.fromStack(stacks[name] as Stack).toJSON()])) as Templates
}
