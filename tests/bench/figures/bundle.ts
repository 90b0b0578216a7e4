import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleFunction } from '../../../infra/bundle/bundle-function.ts'
import { explainFailure, runCommand } from '../../../scripts/setup/command.ts'
import type { ApiEnv } from '../../../services/api/config.ts'
import type { Bench } from '../bench.ts'
import { round, summarize } from '../statistics.ts'

const COLD_IMPORT = join(import.meta.dirname, '../cold-import.ts')

const QUEUE_URL = 'https://sqs.eu-central-1.amazonaws.com/123456789012/bench'

/** Nothing is called while a module loads, so nothing of this has to exist. */
const HANDLER_ENV = {
  AWS_REGION: 'eu-central-1',
  STAGE: 'test',
  TABLE_NAME: 'bench',
  BUCKET_NAME: 'bench',
  TURNS_QUEUE_URL: QUEUE_URL,
  EXECUTIONS_QUEUE_URL: QUEUE_URL,
  PLACEMENTS_QUEUE_URL: QUEUE_URL,
} satisfies ApiEnv

/** The API's Lambda bundle as it is deployed: its size, and its cold start in a plain Node process. */
export const bundle: Bench = {
  name: 'bundle',
  title: "the API's Lambda bundle and its cold start",
  async run({ isQuick }) {
    const folder = await mkdtemp(join(tmpdir(), 'cellblock-bench-bundle-'))
    try {
      const { bytes } = await bundleFunction('services/api/lambda.ts', folder)
      const starts: number[] = []
      for (let run = 0; run < (isQuick ? 5 : 20); run++) starts.push(await coldStart(join(folder, 'index.mjs')))
      const figures = { bundle: summarize('MB', [bytes / 1e6]), api_init_ms: summarize('ms', starts) }
      return { figures, ratios: { bundle_mb: round(figures.bundle.median), api_init_ms: figures.api_init_ms.median } }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

async function coldStart(path: string): Promise<number> {
  const result = await runCommand(process.execPath, ['--disable-warning=ExperimentalWarning', COLD_IMPORT, path], {
    env: { ...process.env, ...HANDLER_ENV },
  })
  const ms = Number(result.stdout)
  if (result.code !== 0 || !(ms > 0)) throw explainFailure('The bundle could not be loaded: the reason is above.', result)
  return ms
}
