import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readConfig, type Config } from '../../../infra/config.ts'
import { repositoryTag } from '../../../infra/build/image-inputs.ts'
import { outputsOf } from '../../../scripts/aws/account.ts'
import { deploy, type Deployed } from '../../../scripts/aws/deploy.ts'
import { PROJECT, type Deployment } from '../../../scripts/aws/deployment.ts'
import { destroy } from '../../../scripts/aws/destroy.ts'
import { readSetupConfig } from '../../../scripts/setup/config.ts'
import { ensureMiniStack } from '../../../scripts/setup/ministack.ts'
import { createStorageClients } from '../../../services/adapters/storage/clients.ts'
import { createDynamoTable } from '../../../services/adapters/storage/dynamodb/dynamo-table.ts'
import { createS3ObjectStore } from '../../../services/adapters/storage/s3/s3-object-store.ts'
import { callNative, type NativeClient } from '../../support/native-client.ts'
import type { ObjectStore } from '../../../services/ports/object-store.ts'
import type { Table } from '../../../services/ports/table.ts'
import { relayTaskEvents } from './relay-task-events.ts'
import { startEdge, type Edge } from './start-edge.ts'
import { startMiniStack, type MiniStack } from './start-ministack.ts'

const run = promisify(execFile)
const REGION = 'us-east-1'
const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' }
/** DNS Firewall, flow logs, budgets: the emulator has none of them. */
const EMULATED_STACKS = ['Data', 'Image', 'Network', 'Service'] as const

/** The CDK app with what the emulator lacks taken out. */
export const EMULATED_APP = `${process.execPath} --disable-warning=ExperimentalWarning tests/aws/support/emulated-app.ts`

/** Settings that a test deploys with. */
export interface SandboxSettings {
  readonly warm: number
  readonly imageTag?: string
  /** With the network gateway, as far as the emulator has it. */
  readonly gateway?: boolean
}

export interface AccountTenant {
  readonly id: string
  readonly apiKey: string
  readonly native: NativeClient
}

export interface Account {
  readonly ministack: MiniStack
  /** Where the service answers, after the first deployment. */
  readonly url: () => string
  /** Follows a link that the service gave out: no DNS knows the distribution that it names. */
  readonly open: (link: string) => Promise<Response>
  readonly config: () => Config
  /** What the project's commands work on. */
  readonly deployment: () => Deployment
  readonly table: () => Table
  readonly objects: () => ObjectStore
  deploy(wanted: SandboxSettings): Promise<Deployed>
  /** Uses what the CDK alone has deployed. */
  adopt(): Promise<void>
  destroy(options: { readonly removesData: boolean }): Promise<void>
  /** A pass of the reconciler, as an operator would invoke it, besides those of its schedule. */
  reconcile(): Promise<void>
  /** Announces that a Spot task is taken back, as ECS does: by an event, and by SIGTERM to the engine's container. */
  interrupt(taskArn: string, engineContainer: string): Promise<void>
  /** The lines of JSON that a function of the service wrote to its log. */
  functionLog(name: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** A new tenant, made with the command line as an operator makes one. */
  createTenant(name: string): Promise<AccountTenant>
  /** The variables of a function of the service. */
  functionVariables(name: string): Promise<Readonly<Record<string, string>>>
  /** The value of a secret. */
  secret(arn: string): Promise<string>
  /** The environment of a process that calls this account. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** What a request to the account answers, by the name of a service and its JSON action. */
  readonly sdk: Deployment['sdk'] & { readonly endpoint: string }
  stop(): Promise<void>
}

/** The settings of cdk.json with those of a test. */
export async function emulatedSettings({ warm, imageTag, gateway = false }: SandboxSettings): Promise<object> {
  const { context } = JSON.parse(await readFile(join(PROJECT, 'cdk.json'), 'utf8')) as { context: { cellblock: object } }
  const sandboxes = {
    tiers: { '1g': { warm } },
    images: ['slim'],
    architecture: process.arch === 'arm64' ? 'ARM64' : 'X86_64',
    spotPercent: 50,
    imageTag,
  }
  // The emulator has no VPC origins: the upload service runs beside it (suites/large-uploads.ts). It has no CodeDeploy: aliases shift at once.
  const without = { api: { uploadService: false }, deployment: { canaryMinutes: 0 } }
  return { ...context.cellblock, stage: 'emulated', sandboxes, network: { gateway }, ...without }
}

/** An empty emulated account, and the project's own commands to deploy into it, look into it and remove what they made. */
export async function openAccount(image: string): Promise<Account> {
  const setup = { config: readSetupConfig(), mayInstall: true }
  const ministack = await startMiniStack(await ensureMiniStack(PROJECT, setup, (line) => console.error(line)))
  const { endpoint, folder } = ministack
  const sdk = { endpoint, region: REGION, credentials: CREDENTIALS }
  const env = {
    PATH: process.env['PATH'],
    // The CDK remembers accounts by their keys.
    CDK_HOME: folder,
    HOME: folder,
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_REGION: REGION,
    AWS_EC2_METADATA_DISABLED: 'true',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    NO_PROXY: '127.0.0.1,localhost',
  }
  const relay = relayTaskEvents(endpoint)
  const deployments = new Map<string, Deployment>()
  let edge: Edge | null = null
  let outputs: Deployed['outputs'] = {}
  const clients = createStorageClients({
    region: REGION,
    credentials: CREDENTIALS,
    endpoints: { dynamodb: endpoint, sqs: endpoint, s3: endpoint },
  })
  const objects = (): ObjectStore => createS3ObjectStore({ client: clients.s3, bucket: outputs['ObjectBucket'] ?? '' })

  /** One for each setting: what was synthesised once is deployed again as it is. */
  async function deploymentOf(wanted: SandboxSettings): Promise<Deployment> {
    const name = JSON.stringify(wanted)
    const known = deployments.get(name)
    if (known !== undefined) return known
    const settings = await emulatedSettings(wanted)
    const output = join(folder, `cdk-${deployments.size}`)
    const config = readConfig(JSON.stringify(settings))
    const made = { config, context: settings, app: EMULATED_APP, output, env, sdk, stacks: EMULATED_STACKS, progress: () => undefined }
    deployments.set(name, made)
    return made
  }
  let last: Deployment

  return {
    ministack,
    sdk,
    environment: env,
    async functionVariables(name) {
      const answer = await fetch(`${endpoint}/2015-03-31/functions/cellblock-emulated-${name}/configuration`)
      const { Environment } = (await answer.json()) as { Environment: { Variables: Record<string, string> } }
      return Environment.Variables
    },
    async secret(arn) {
      const answer = await fetch(endpoint, {
        method: 'POST',
        headers: { 'x-amz-target': 'secretsmanager.GetSecretValue', 'content-type': 'application/x-amz-json-1.1' },
        body: JSON.stringify({ SecretId: arn }),
      })
      return ((await answer.json()) as { SecretString: string }).SecretString
    },
    url: () => edge?.url ?? '',
    open: (link) => fetch(link.replace(/^https:\/\/[a-z0-9]+\.cloudfront\.net/, edge?.url ?? '')),
    config: () => last.config,
    deployment: () => last,
    table: () => createDynamoTable({ client: clients.dynamodb, tableName: outputs['TableName'] ?? '', objects: objects() }),
    objects,
    async deploy(wanted) {
      last = await deploymentOf(wanted)
      // A push that needs no registry: the engine finds the image under the name that the task definitions have.
      const deployed = await deploy(last, async (repository) => {
        const name = `${repository}:${wanted.imageTag ?? repositoryTag(image)}`
        await run('docker', ['tag', image, name])
      })
      outputs = deployed.outputs
      edge ??= await startEdge(endpoint)
      edge.setDistribution(outputs['EdgeDomain'] ?? '')
      return deployed
    },
    async adopt() {
      last = await deploymentOf({ warm: 0 })
      outputs = { ...(await outputsOf(last, 'Data')), ...(await outputsOf(last, 'Service')) }
      edge ??= await startEdge(endpoint)
      edge.setDistribution(outputs['EdgeDomain'] ?? '')
    },
    destroy: (options) => destroy(last, options),
    async reconcile() {
      const url = `${endpoint}/2015-03-31/functions/cellblock-emulated-reconciler/invocations`
      const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ kind: 'pass' }) })
      const said = await answer.text()
      if (!answer.ok || answer.headers.has('x-amz-function-error')) throw new Error(`The reconciler answered ${answer.status}: ${said}`)
    },
    async interrupt(taskArn, engineContainer) {
      await run('docker', ['kill', '--signal=TERM', engineContainer])
      await relay.interrupt(taskArn)
    },
    async functionLog(name) {
      const answer = await fetch(endpoint, {
        method: 'POST',
        headers: { 'x-amz-target': 'Logs_20140328.FilterLogEvents', 'content-type': 'application/x-amz-json-1.1' },
        body: JSON.stringify({ logGroupName: `/cellblock/cellblock-emulated-${name}` }),
      })
      const { events } = (await answer.json()) as { events: { message: string }[] }
      return events.flatMap(({ message }) => (message.startsWith('{') ? [JSON.parse(message) as Record<string, unknown>] : []))
    },
    async createTenant(name) {
      const cli = ['scripts/cli/main.ts', '--table', outputs['TableName'] ?? '', 'tenants', 'create', name, '--json']
      const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', ...cli], { cwd: PROJECT, env })
      const { id, api_key: apiKey } = JSON.parse(stdout) as { id: string; api_key: string }
      return { id, apiKey, native: callNative(edge?.url ?? '', apiKey) }
    },
    async stop() {
      await relay.stop()
      await edge?.stop()
      clients.close()
      await ministack.stop()
    },
  }
}
