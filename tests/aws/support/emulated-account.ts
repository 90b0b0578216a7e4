import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readConfig } from '../../../infra/config.ts'
import { deploy, type Deployed } from '../../../scripts/aws/deploy.ts'
import { PROJECT, type Deployment } from '../../../scripts/aws/deployment.ts'
import { destroy } from '../../../scripts/aws/destroy.ts'
import { createStorageClients } from '../../../services/storage/clients.ts'
import { createDynamoTable } from '../../../services/storage/dynamodb/dynamo-table.ts'
import { createS3ObjectStore } from '../../../services/storage/s3/s3-object-store.ts'
import { callNative, type NativeClient } from '../../support/native-client.ts'
import type { ObjectStore } from '../../../services/core/ports/object-store.ts'
import type { Table } from '../../../services/core/ports/table.ts'
import { ensureMiniStack } from './ensure-ministack.ts'
import { startEdge, type Edge } from './start-edge.ts'
import { startMiniStack, type MiniStack } from './start-ministack.ts'

const run = promisify(execFile)
const REGION = 'us-east-1'
const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' }
/** DNS Firewall, flow logs, budgets: the emulator has none of them. */
const PARTS = ['Data', 'Image', 'Network', 'Service'] as const

/** Settings of `sandboxes` that a test deploys with. */
export interface Wanted {
  readonly warm: number
  readonly imageTag?: string
}

export interface Account {
  readonly ministack: MiniStack
  /** Where the service answers, after the first deployment. */
  readonly url: () => string
  readonly table: () => Table
  readonly objects: () => ObjectStore
  deploy(wanted: Wanted): Promise<Deployed>
  destroy(options: { readonly removesData: boolean }): Promise<void>
  /** A new tenant, made with the command line as an operator makes one. */
  createTenant(name: string): Promise<{ readonly apiKey: string; readonly native: NativeClient }>
  /** What a request to the account answers, by the name of a service and its JSON action. */
  readonly sdk: Deployment['sdk'] & { readonly endpoint: string }
  stop(): Promise<void>
}

/** An empty emulated account, and the project's own commands to deploy into it, look into it and remove what they made. */
export async function openAccount(image: string): Promise<Account> {
  const volumesBefore = await unusedVolumes()
  const ministack = await startMiniStack(await ensureMiniStack())
  const output = await mkdtemp(join(tmpdir(), 'cellblock-cdk-'))
  const { endpoint } = ministack
  const sdk = { endpoint, region: REGION, credentials: CREDENTIALS }
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_REGION: REGION,
    AWS_EC2_METADATA_DISABLED: 'true',
    NO_PROXY: '127.0.0.1,localhost',
  }
  const said: string[] = []
  const tagged = new Set<string>()
  let edge: Edge | null = null
  let outputs: Deployed['outputs'] = {}
  const clients = createStorageClients({
    region: REGION,
    credentials: CREDENTIALS,
    endpoints: { dynamodb: endpoint, sqs: endpoint, s3: endpoint },
  })
  const objects = (): ObjectStore =>
    createS3ObjectStore({ client: clients.s3, bucket: outputs['ObjectBucket'] ?? '', presign: () => clients.s3 })

  async function deployment({ warm, imageTag }: Wanted): Promise<Deployment> {
    const { context } = JSON.parse(await readFile(join(PROJECT, 'cdk.json'), 'utf8')) as { context: { cellblock: object } }
    const sandboxes = { tiers: { '1g': { warm } }, architecture: process.arch === 'arm64' ? 'ARM64' : 'X86_64', imageTag }
    const settings = { ...context.cellblock, stage: 'emulated', sandboxes }
    const config = readConfig(JSON.stringify(settings))
    const app = `${process.execPath} --disable-warning=ExperimentalWarning tests/aws/support/emulated-app.ts`
    return { config, context: settings, app, output, env, sdk, parts: PARTS, say: (line) => void said.push(line) }
  }
  let last: Deployment

  return {
    ministack,
    sdk,
    url: () => edge?.url ?? '',
    table: () => createDynamoTable({ client: clients.dynamodb, tableName: outputs['TableName'] ?? '', objects: objects() }),
    objects,
    async deploy(wanted) {
      last = await deployment(wanted)
      // A push that needs no registry: the engine finds the image under the name that the task definitions have.
      const deployed = await deploy(last, async (repository) => {
        const name = `${repository}:${wanted.imageTag ?? image.slice(image.indexOf(':') + 1)}`
        await run('docker', ['tag', image, name])
        tagged.add(name)
      })
      outputs = deployed.outputs
      edge ??= await startEdge(endpoint)
      edge.leadTo(outputs['EdgeDomain'] ?? '')
      return deployed
    },
    destroy: (options) => destroy(last, options),
    async createTenant(name) {
      const cli = ['services/cli/main.ts', '--table', outputs['TableName'] ?? '', 'tenants', 'create', name, '--json']
      const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', ...cli], { cwd: PROJECT, env })
      const { api_key: apiKey } = JSON.parse(stdout) as { api_key: string }
      return { apiKey, native: callNative(edge?.url ?? '', apiKey) }
    },
    async stop() {
      await edge?.stop()
      clients.close()
      await ministack.stop()
      for (const name of tagged) await run('docker', ['rmi', '--no-prune', name])
      // The emulator leaves a task's disk behind.
      for (const volume of await unusedVolumes())
        if (!volumesBefore.includes(volume)) await run('docker', ['volume', 'rm', '--force', volume])
      await rm(output, { recursive: true, force: true })
    },
  }
}

/** Volumes without a name that no container has. */
async function unusedVolumes(): Promise<readonly string[]> {
  const { stdout } = await run('docker', ['volume', 'ls', '--quiet', '--filter', 'dangling=true'])
  return stdout.split('\n').filter((name) => /^[0-9a-f]{64}$/.test(name))
}
