import * as codebuild from '@aws-sdk/client-codebuild'
import * as ecr from '@aws-sdk/client-ecr'
import { App, type Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sourceAssets } from '../../infra/bundle/source-assets.ts'
import { Cellblock } from '../../infra/cellblock.ts'
import { remainingNeeds } from '../../scripts/setup/remote-image-builds.ts'
import { COMMANDS } from '../../scripts/commands.ts'
import { IMAGE_BUILD_HANDLER } from '../../infra/constructs/image-build-handler.ts'
import { all, at, list, only, says } from './property.ts'
import { buildApp, context, STACKS, type StackName, type Templates } from './synthesise.ts'

const folder = mkdtempSync(join(tmpdir(), 'cellblock-remote-builds-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const source = join(folder, 'context')
mkdirSync(source)
writeFileSync(join(source, 'Dockerfile'), 'FROM scratch\n')

/** The app as `cdk deploy` synthesises it with `imageBuilder: codebuild`. */
function synthesise(architecture: string): Templates {
  const app = new App({ context: { ...context, 'aws:cdk:bundling-stacks': [], 'aws:cdk:disable-stack-trace': true } })
  const settings = {
    ...(context['cellblock'] as object),
    stage: 'prod',
    api: { uploadService: true },
    sandboxes: { tiers: { '1g': { warm: 0 } }, images: ['standard', 'slim'], architecture },
    deployment: { imageBuilder: 'codebuild' },
  }
  const { stacks } = new Cellblock(app, 'Cellblock', {
    settings,
    assets: sourceAssets({ images: { kind: 'built', folder: source }, siteFolder: null }),
  })
  return Object.fromEntries(STACKS.map((name: StackName) => [name, Template.fromStack(stacks[name] as Stack).toJSON()])) as Templates
}

describe('images that CodeBuild builds', () => {
  const found = synthesise('X86_64')
  const builds = all(found, 'Custom::CellblockImage')
  const project = only(found, 'AWS::CodeBuild::Project')

  it('are those of the settings and that of the tasks of the API, each for its platform', () => {
    const wanted = builds.map(({ Properties }) => [String(Properties['Tag']).replace(/^[0-9a-f]{12}-/, ''), Properties['Platform']])
    expect(wanted.toSorted()).toEqual([
      ['api', 'linux/arm64'],
      ['slim', 'linux/amd64'],
      ['standard', 'linux/amd64'],
    ])
    const standard = builds.find(({ Properties }) => String(Properties['Tag']).endsWith('-standard'))
    expect(standard?.Properties['BuildArguments']).toMatch(/^--build-arg BASE=public\.ecr\.aws\/\S+ --build-arg VARIANT=standard$/)
  })

  it('need no Docker on the machine that deploys: the CDK has no image to build, and the command asks for no engine', async () => {
    const dockerImages = (imageBuilder: string): number => {
      const outdir = mkdtempSync(join(folder, 'out-'))
      const app = new App({ outdir, context: { ...context, 'aws:cdk:bundling-stacks': [], 'aws:cdk:disable-stack-trace': true } })
      const settings = { ...(context['cellblock'] as object), api: { uploadService: true }, deployment: { imageBuilder } }
      const assets = sourceAssets({ images: { kind: 'built', folder: source }, siteFolder: null })
      const { stacks } = new Cellblock(app, 'Cellblock', { settings, assets })
      expect(stacks.image === null).toBe(imageBuilder === 'docker')
      app.synth()
      const manifests = readdirSync(outdir).filter((name) => name.endsWith('.assets.json'))
      const read = manifests.map((name) => JSON.parse(readFileSync(join(outdir, name), 'utf8')) as { dockerImages: object })
      return read.flatMap((manifest) => Object.keys(manifest.dockerImages)).length
    }
    expect([dockerImages('codebuild'), dockerImages('docker')]).toEqual([0, 3])
    const needs = async (imageBuilder: string) => {
      writeFileSync(join(folder, 'cdk.json'), JSON.stringify({ context: { cellblock: { deployment: { imageBuilder } } } }))
      return remainingNeeds(COMMANDS.deploy, folder)
    }
    expect(await needs('codebuild')).toEqual(['dependencies'])
    expect(await needs('docker')).toEqual(expect.arrayContaining(['engine', 'image']))
    expect(await remainingNeeds(COMMANDS['test:aws'], folder)).toContain('engine')
  })

  it('are each kept by one lifecycle rule: builds of one image never expire another', () => {
    const { LifecyclePolicyText: text } = only(found, 'AWS::ECR::Repository').Properties['LifecyclePolicy'] as {
      LifecyclePolicyText: string
    }
    const { rules } = JSON.parse(text) as { rules: { selection: { tagPatternList?: string[]; countNumber: number } }[] }
    for (const { Properties } of builds) {
      const tag = String(Properties['Tag'])
      const matching = rules.filter(
        ({ selection }) => selection.tagPatternList?.every((pattern) => tag.endsWith(pattern.replace('*', ''))) ?? true,
      )
      expect(matching.map(({ selection }) => [selection.tagPatternList, selection.countNumber])).toEqual([[[`*${tag.slice(12)}`], 10]])
    }
  })

  it('are in the repository of the stage under the tags that task definitions name', () => {
    const tags = builds.map(({ Properties }) => String(Properties['Tag']))
    const images = all(found, 'AWS::ECS::TaskDefinition').map(({ Properties }) =>
      JSON.stringify(at(Properties, 'ContainerDefinitions.0.Image')),
    )
    expect(images.length).toBe(3)
    expect(images.filter((image) => !tags.some((tag) => image.includes(`:${tag}`)))).toEqual([])
    expect(says(found.network, 'container-assets')).toBe(false)
  })

  it('are built by a project with Docker that may push into this repository only', () => {
    expect(at(project, 'Properties.Environment')).toMatchObject({ PrivilegedMode: true, Type: 'LINUX_CONTAINER' })
    expect(at(only(synthesise('ARM64'), 'AWS::CodeBuild::Project'), 'Properties.Environment.Type')).toBe('ARM_CONTAINER')
    const policies = all(found, 'AWS::IAM::Policy', 'image').flatMap(({ Properties }) => list(at(Properties, 'PolicyDocument.Statement')))
    const pushes = policies.filter((statement) => says(at(statement, 'Action'), 'ecr:PutImage'))
    expect(pushes).toHaveLength(1)
    expect(JSON.stringify(at(pushes[0], 'Resource'))).toMatch(/^\{"Fn::GetAtt":\["Sandbox/)
  })

  it('need their build context, which the deploy command does not pass for pushed images', () => {
    expect(() => buildApp({ deployment: { imageBuilder: 'codebuild' } })).toThrow('build context')
  })
})

describe('the function that starts builds', () => {
  const sent: { readonly target: string; readonly body: Record<string, unknown> }[] = []
  const state = { hasImage: false, status: 'IN_PROGRESS' }
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      const target = String(request.headers['x-amz-target'])
      sent.push({ target, body: JSON.parse(text) as Record<string, unknown> })
      const answers: Record<string, [number, object]> = {
        DescribeImages: state.hasImage ? [200, { imageDetails: [{}] }] : [400, { __type: 'ImageNotFoundException', message: 'none' }],
        StartBuild: [200, { build: { id: 'cellblock-prod-images:1' } }],
        BatchGetBuilds: [200, { builds: [{ buildStatus: state.status, logs: { deepLink: 'https://console.example.com/log' } }] }],
      }
      const [status, body] = answers[target.split('.').at(-1) ?? ''] ?? [500, {}]
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body))
    })
  })
  type Handler = (event: object) => Promise<Record<string, unknown>>
  let handler: { readonly start: Handler; readonly isComplete: Handler }
  const wanted = {
    ProjectName: 'cellblock-prod-images',
    RepositoryName: 'cellblock-prod/sandbox',
    RepositoryUri: '1.dkr.ecr.eu-west-1.amazonaws.com/cellblock-prod/sandbox',
    Tag: '0123456789ab-slim',
    Source: 'assets/0123.zip',
    Platform: 'linux/amd64',
    BuildArguments: '--build-arg VARIANT=slim',
  }

  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    // The packages of Lambda's runtime are those of this project here, with this server as AWS.
    const client = { endpoint, region: 'eu-west-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' }, maxAttempts: 1 }
    class LocalCodeBuild extends codebuild.CodeBuildClient {
      constructor() {
        super(client)
      }
    }
    class LocalEcr extends ecr.ECRClient {
      constructor() {
        super(client)
      }
    }
    const modules: Readonly<Record<string, object>> = {
      '@aws-sdk/client-codebuild': { ...codebuild, CodeBuildClient: LocalCodeBuild },
      '@aws-sdk/client-ecr': { ...ecr, ECRClient: LocalEcr },
    }
    const exports = {}
    runInNewContext(IMAGE_BUILD_HANDLER, { require: (name: string) => modules[name], exports })
    handler = exports as typeof handler
    return () => server.close()
  })

  it('starts one with the context, the tag and the platform, and waits for its end', async () => {
    const started = await handler.start({ RequestType: 'Create', ResourceProperties: wanted })
    expect(started).toEqual({
      PhysicalResourceId: 'cellblock-prod/sandbox:0123456789ab-slim',
      Data: { BuildId: 'cellblock-prod-images:1' },
    })
    expect(sent.at(-1)).toMatchObject({
      target: 'CodeBuild_20161006.StartBuild',
      body: { projectName: 'cellblock-prod-images', sourceTypeOverride: 'S3', sourceLocationOverride: 'assets/0123.zip' },
    })
    expect(sent.at(-1)?.body['environmentVariablesOverride']).toEqual(
      [
        ['REPOSITORY', wanted.RepositoryUri],
        ['TAG', wanted.Tag],
        ['PLATFORM', wanted.Platform],
        ['BUILD_ARGUMENTS', wanted.BuildArguments],
      ].map(([name, value]) => ({ name, value, type: 'PLAINTEXT' })),
    )
    const event = { RequestType: 'Create', ResourceProperties: wanted, ...started }
    expect(await handler.isComplete(event)).toEqual({ IsComplete: false })
    state.status = 'SUCCEEDED'
    expect(await handler.isComplete(event)).toEqual({ IsComplete: true })
    state.status = 'FAILED'
    await expect(handler.isComplete(event)).rejects.toThrow('0123456789ab-slim ended as FAILED. Its log: https://console.example.com/log')
  })

  it('builds nothing that the repository has, and nothing on deletion', async () => {
    state.hasImage = true
    sent.length = 0
    const again = await handler.start({ RequestType: 'Update', ResourceProperties: wanted })
    expect(await handler.isComplete({ RequestType: 'Update', ResourceProperties: wanted, ...again })).toEqual({ IsComplete: true })
    expect(await handler.start({ RequestType: 'Delete', PhysicalResourceId: 'one', ResourceProperties: wanted })).toEqual({
      PhysicalResourceId: 'one',
    })
    expect(await handler.isComplete({ RequestType: 'Delete', ResourceProperties: wanted })).toEqual({ IsComplete: true })
    expect(sent.map(({ target }) => target.split('.').at(-1))).toEqual(['DescribeImages'])
  })
})
