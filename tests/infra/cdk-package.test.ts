import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packPackage } from '../support/pack-package.ts'
import { at, list, says, type Statement } from './property.ts'
import type { Resource } from './synthesise.ts'

const run = promisify(execFile)
const PROJECT = join(import.meta.dirname, '..', '..')

interface Template {
  readonly Resources: Record<string, Resource>
  readonly Outputs?: Record<string, unknown>
}

let folder: string
let paths: readonly string[]
const templates = new Map<string, Template>()
const resources = (stack: string, type: string): Resource[] =>
  Object.values(templates.get(stack)?.Resources ?? {}).filter(({ Type }) => Type === type)
const everywhere = (type: string): Resource[] => [...templates.keys()].flatMap((stack) => resources(stack, type))

/** The package as npm publishes it, installed beside the example, which then synthesises without this project's sources. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-cdk-package-'))
  const packed = await packPackage('cdk', folder)
  paths = packed.paths
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, '@cellblock'), { recursive: true })
  await run('tar', ['-xzf', packed.archive, '-C', folder])
  await cp(join(folder, 'package'), join(modules, '@cellblock', 'cdk'), { recursive: true })
  for (const name of ['aws-cdk-lib', 'constructs']) await symlink(join(PROJECT, 'node_modules', name), join(modules, name))
  await cp(join(PROJECT, 'examples', 'cdk', 'main.mjs'), join(folder, 'main.mjs'))
  const context = { 'aws:cdk:disable-stack-trace': true }
  await run(process.execPath, ['main.mjs'], {
    cwd: folder,
    // No proxy and no name server would be found: synthesis asks no network.
    env: {
      PATH: process.env['PATH'],
      CDK_OUTDIR: join(folder, 'out'),
      CDK_CONTEXT_JSON: JSON.stringify(context),
      HTTPS_PROXY: 'http://127.0.0.1:9',
    },
  })
  for (const file of await readdir(join(folder, 'out')))
    if (file.endsWith('.template.json'))
      templates.set(file.replace('.template.json', ''), JSON.parse(await readFile(join(folder, 'out', file), 'utf8')) as Template)
}, 300_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

it('contains functions, page and image contexts, and no source of the project', () => {
  expect(paths).toEqual(
    expect.arrayContaining([
      'dist/index.js',
      'dist/index.d.ts',
      ...['api', 'chat', 'run', 'place', 'reconciler'].map((name) => `dist/functions/${name}/index.mjs`),
      'dist/upload-image/Dockerfile',
      'dist/image/Dockerfile',
      'dist/image/requirements/slim.lock',
      'dist/site/page/index.html',
      'dist/site/docs/reference.js',
    ]),
  )
  expect(paths.filter((path) => /node_modules|(?<!\.d)\.ts$|__pycache__/.test(path))).toEqual([])
})

it('synthesises every stack in an app outside this project', () => {
  expect([...templates.keys()].toSorted()).toEqual(
    ['Shared', ...['Data', 'Guard', 'Network', 'Operations', 'Service'].map((name) => `Cellblock-dev-${name}`)].toSorted(),
  )
})

it("uses the app's VPC, key, boundary, log retention, web ACL and domain", () => {
  expect(everywhere('AWS::EC2::VPC')).toEqual(resources('Shared', 'AWS::EC2::VPC'))
  expect(resources('Cellblock-dev-Network', 'AWS::EC2::VPC')).toEqual([])
  expect(everywhere('AWS::KMS::Key')).toEqual(resources('Shared', 'AWS::KMS::Key'))
  const roles = [...templates.keys()].filter((stack) => stack !== 'Shared').flatMap((stack) => resources(stack, 'AWS::IAM::Role'))
  expect(roles.length).toBeGreaterThan(5)
  expect(roles.filter(({ Properties }) => !says(Properties['PermissionsBoundary'], ':policy/developer-boundary'))).toEqual([])
  const logs = resources('Cellblock-dev-Service', 'AWS::Logs::LogGroup').map(({ Properties }) => Properties['RetentionInDays'])
  expect(new Set(logs)).toEqual(new Set([90]))
  const distribution = at(resources('Cellblock-dev-Service', 'AWS::CloudFront::Distribution')[0], 'Properties.DistributionConfig')
  expect(at(distribution, 'Aliases')).toEqual(['code.example.com'])
  expect(says(at(distribution, 'WebACLId'), 'webacl/example')).toBe(true)
})

it('pulls the images that the CDK builds, and only those, through the endpoints of the VPC', async () => {
  const [definition] = resources('Cellblock-dev-Service', 'AWS::ECS::TaskDefinition')
  expect(says(at(definition, 'Properties.ContainerDefinitions.0.Image'), 'container-assets')).toBe(true)
  const endpoints = resources('Cellblock-dev-Network', 'AWS::EC2::VPCEndpoint').filter((endpoint) => says(endpoint.Properties, '.ecr.api'))
  const pull = list(at(endpoints[0], 'Properties.PolicyDocument.Statement')) as Statement[]
  expect(pull.filter(({ Action }) => says(Action, 'ecr:BatchGetImage')).every((each) => says(each.Resource, 'container-assets'))).toBe(true)
  const assets = JSON.parse(await readFile(join(folder, 'out', 'Cellblock-dev-Network.assets.json'), 'utf8')) as {
    dockerImages: Record<string, { source: { dockerBuildArgs: unknown; platform: string } }>
  }
  expect(Object.values(assets.dockerImages).map(({ source }) => [source.dockerBuildArgs, source.platform])).toEqual([
    [{ VARIANT: 'slim' }, 'linux/arm64'],
  ])
})

it('uploads the page with the service, so that no command is needed after the deployment', () => {
  expect(resources('Cellblock-dev-Service', 'Custom::CDKBucketDeployment').length).toBe(1)
})
