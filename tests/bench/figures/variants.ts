import { findSandboxImage } from '../../../scripts/setup/sandbox-image.ts'
import type { ImageVariant } from '../../../infra/build/image-inputs.ts'
import { PRINT } from '../sides/print.ts'
import type { Bench, BenchContext } from '../bench.ts'
import { timeFirstExecution } from '../sides/first-execution.ts'
import { idleSandboxMegabytes, SIDE_BY_SIDE } from '../sides/idle-sandboxes.ts'
import { startServer, type BenchServer } from '../sides/server.ts'
import { timed } from '../sides/time.ts'
import { median, round, summarize, type Figure } from '../statistics.ts'
import { zstdMegabytes } from './image-size.ts'

const OTHERS = ['standard', 'full'] as const satisfies readonly ImageVariant[]
const LIVE_RUNS_EACH = 10
const CLAIM_POOL = 2
/** Registries and Fargate store and unpack any level; a push pays for a high one once. */
const PUSH_LEVEL = 19

interface Side {
  readonly live: number[]
  readonly claim: number[]
  readonly server: BenchServer
  readonly container: string
}

/** The other images, those that are built on this machine, beside `slim`: memory, claim, live execution, cold start and download size. */
export const variants: Bench = {
  name: 'variants',
  title: 'the other images that are built here, beside slim',
  async run(context) {
    const figures: Record<string, Figure> = {}
    const ratios: Record<string, number> = {}
    for (const variant of OTHERS) {
      const image = await findSandboxImage(variant)
      if (image === null) {
        context.say(`  ${variant} is not built here: npm run image -- --variant ${variant}`)
        continue
      }
      const measured = await measure(context, variant, image)
      Object.assign(figures, measured.figures)
      Object.assign(ratios, measured.ratios)
    }
    return { figures, ratios }
  },
}

async function measure(context: BenchContext, variant: string, image: string) {
  const { isQuick } = context
  const { slim, other } = await besideSlim(context, image)
  const pss = await idleSandboxMegabytes(image, isQuick ? CLAIM_POOL : SIDE_BY_SIDE)
  const cold = await coldStarts(image, isQuick ? 3 : 10)
  const figures: Record<string, Figure> = {
    [`${variant}_live_ms`]: summarize('ms', other.live),
    [`${variant}_live_slim_ms`]: summarize('ms', slim.live),
    [`${variant}_claim_ms`]: summarize('ms', other.claim),
    [`${variant}_claim_slim_ms`]: summarize('ms', slim.claim),
    [`${variant}_cold_ms`]: summarize('ms', cold),
  }
  const ratios: Record<string, number> = {
    [`${variant}_live_vs_slim`]: round(median(other.live) / median(slim.live)),
    [`${variant}_claim_vs_slim`]: round(median(other.claim) / median(slim.claim)),
  }
  if (pss.length > 0) {
    figures[`${variant}_pss`] = summarize('MB', pss)
    ratios[`${variant}_pss_mb`] = round(median(pss))
  }
  // Minutes for each image, so a quick run leaves it out.
  if (!isQuick) {
    const megabytes = await zstdMegabytes(image, PUSH_LEVEL)
    figures[`${variant}_image`] = summarize('MB', [megabytes])
    ratios[`${variant}_image_mb`] = round(megabytes)
  }
  return { figures, ratios }
}

/** Live executions and claims of both images in turns, each on its own server. */
async function besideSlim({ isQuick, image }: BenchContext, otherImage: string): Promise<{ readonly slim: Side; readonly other: Side }> {
  const slim = await startSide(image)
  try {
    const other = await startSide(otherImage)
    try {
      for (let run = 0; run < (isQuick ? 5 : 40); run++)
        for (const side of run % 2 === 0 ? [slim, other] : [other, slim]) await runOnce(side)
      return { slim, other }
    } finally {
      await other.server.stop()
    }
  } finally {
    await slim.server.stop()
  }
}

async function startSide(image: string): Promise<Side> {
  const server = await startServer({ image, poolSize: CLAIM_POOL })
  const container = await server.api.createContainer()
  await server.api.run(container, PRINT)
  return { server, container, live: [], claim: [] }
}

async function runOnce({ server: { api, pool }, container, live, claim }: Side): Promise<void> {
  await pool.waitFor(CLAIM_POOL)
  for (let run = 0; run < LIVE_RUNS_EACH; run++) live.push(await timed(() => api.run(container, PRINT)))
  claim.push(await timeFirstExecution(api))
  await pool.waitFor(CLAIM_POOL)
}

/** Milliseconds to the first answer without a warm sandbox. */
async function coldStarts(image: string, runs: number): Promise<readonly number[]> {
  const server = await startServer({ image, poolSize: 0 })
  const times: number[] = []
  try {
    for (let run = 0; run < runs; run++) times.push(await timeFirstExecution(server.api))
    return times
  } finally {
    await server.stop()
  }
}
