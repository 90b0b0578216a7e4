import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleFunction } from '../../../infra/bundle/bundle-function.ts'
import { explainFailure, runCommand } from '../../../scripts/setup/command.ts'
import type { ApiEnv } from '../../../services/entries/aws/api/config.ts'
import type { ChatEnv } from '../../../services/entries/aws/chat/config.ts'
import type { PlaceEnv, RunEnv } from '../../../services/entries/aws/config.ts'
import type { FargateEnv } from '../../../services/adapters/drivers/fargate/config.ts'
import type { Bench } from '../bench.ts'
import { round, summarize, type Figure } from '../statistics.ts'

const COLD_IMPORT = join(import.meta.dirname, '../cold-import.ts')
const FUNCTIONS = {
  api: 'services/entries/aws/api/lambda.ts',
  chat: 'services/entries/aws/chat/lambda.ts',
  run: 'services/entries/aws/run/lambda.ts',
  place: 'services/entries/aws/place/lambda.ts',
  reconciler: 'services/entries/aws/reconcile/lambda.ts',
} as const
type FunctionName = keyof typeof FUNCTIONS
const NAMES = Object.keys(FUNCTIONS) as FunctionName[]

const QUEUE_URL = 'https://sqs.eu-central-1.amazonaws.com/123456789012/bench'

/** Placeholder values, because nothing is called while a module loads. */
const HANDLER_ENV = {
  AWS_REGION: 'eu-central-1',
  STAGE: 'test',
  TABLE_NAME: 'bench',
  BUCKET_NAME: 'bench',
  TURNS_QUEUE_URL: QUEUE_URL,
  EXECUTIONS_QUEUE_URL: QUEUE_URL,
  PLACEMENTS_QUEUE_URL: QUEUE_URL,
  MODELS_SECRET_ARN: 'bench',
  CELLBLOCK_MODELS: '[]',
  SANDBOX_IMAGES: '{"slim":"bench:1"}',
  SANDBOX_ARCHITECTURE: 'X86_64',
  CONCURRENT_STEPS: '50',
  CLUSTER_ARN: 'bench',
  SUBNET_IDS: 'subnet-1',
  SECURITY_GROUP_IDS: 'sg-1',
  TASK_DEFINITIONS: '{"slim":{"1g":"bench:1"}}',
  POOL_SIZES: '{}',
} satisfies ApiEnv & ChatEnv & RunEnv & PlaceEnv & FargateEnv

/** Every Lambda bundle as it is deployed: its size, and its cold start in a plain Node process. */
export const bundle: Bench = {
  name: 'bundle',
  title: 'the Lambda bundles and their cold starts',
  async run({ isQuick }) {
    const folder = await mkdtemp(join(tmpdir(), 'cellblock-bench-bundle-'))
    try {
      const figures: Record<string, Figure> = {}
      for (const name of NAMES) {
        const output = join(folder, name)
        const { bytes } = await bundleFunction(FUNCTIONS[name], output)
        const starts: number[] = []
        for (let run = 0; run < (isQuick ? 5 : 20); run++) starts.push(await coldStart(join(output, 'index.mjs')))
        figures[name === 'api' ? 'bundle' : `${name}_bundle`] = summarize('MB', [bytes / 1e6])
        figures[`${name}_init_ms`] = summarize('ms', starts)
      }
      return { figures, ratios: { bundle_mb: round(figures['bundle']?.median ?? 0), api_init_ms: figures['api_init_ms']?.median ?? 0 } }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

async function coldStart(path: string): Promise<number> {
  const result = await runCommand(process.execPath, ['--disable-warning=ExperimentalWarning', COLD_IMPORT, path], {
    // As cold as in Lambda.
    env: { ...process.env, ...HANDLER_ENV, NODE_DISABLE_COMPILE_CACHE: '1' },
  })
  const ms = Number(result.stdout)
  if (result.code !== 0 || !(ms > 0)) throw explainFailure('The bundle could not be loaded: the reason is above.', result)
  return ms
}
