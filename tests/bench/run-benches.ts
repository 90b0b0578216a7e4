import { PRINT } from './sides/print.ts'
import { POOL_SIZE, type Bench, type BenchContext } from './bench.ts'
import { RunProgress } from '../../scripts/progress/run-progress.ts'
import type { Cleanups } from './cleanups.ts'
import { TURN_SCRIPT } from './figures/turn.ts'
import { describeMachine, describeVersions, loads } from './machine.ts'
import type { BenchReport } from './report.ts'
import { startBareKernels } from './sides/bare-kernel.ts'
import { removeBenchContainers } from './sides/docker.ts'
import { startScriptedModel } from './sides/scripted-model.ts'
import { startServer } from './sides/server.ts'
import type { Figure } from './statistics.ts'

type Say = BenchContext['say']

/** Starts both sides, runs the benchmarks one after another and combines their figures. */
export async function runBenches(
  benches: readonly Bench[],
  options: { readonly isQuick: boolean; readonly image: string; readonly say: Say; readonly cleanups: Cleanups },
): Promise<BenchReport> {
  const { say, isQuick } = options
  const startedAt = new Date()
  const loadBefore = loads()
  const parts = ['service and kernel', ...benches.map(({ name }) => name)]
  const progress = new RunProgress({ kind: isQuick ? 'bench --quick' : 'bench', parts, say })
  const context = await progress.run(() => openContext(options))
  const figures: Record<string, Figure> = {}
  const ratios: Record<string, number> = {}
  for (const bench of benches) {
    const benchStartedAt = performance.now()
    const result = await progress.run(() => bench.run(context))
    Object.assign(figures, result.figures)
    Object.assign(ratios, result.ratios)
    const seconds = ((performance.now() - benchStartedAt) / 1_000).toFixed(1)
    const found = Object.entries(result.ratios).map(([key, value]) => `${key} ${value}`)
    say(`✓ ${bench.title} (${seconds} s) ${found.join(', ')}`)
  }
  const runs = Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, figure.runs]))
  return { machine: describeMachine(startedAt, loadBefore), versions: await describeVersions(options.image), runs, figures, ratios }
}

async function openContext(options: {
  readonly isQuick: boolean
  readonly image: string
  readonly say: Say
  readonly cleanups: Cleanups
}): Promise<BenchContext> {
  const { isQuick, image, say, cleanups } = options
  cleanups.add(removeBenchContainers)
  const model = await startScriptedModel(TURN_SCRIPT)
  cleanups.add(() => model.stop())
  const server = await startServer({ image, poolSize: POOL_SIZE, modelUrl: model.url })
  cleanups.add(() => server.stop())
  const kernel = await startBareKernels(image, 1)
  cleanups.add(() => kernel.stop())
  await server.pool.waitFor(POOL_SIZE)
  const liveContainer = await server.api.createContainer()
  await server.api.run(liveContainer, PRINT)
  await server.pool.waitFor(POOL_SIZE)
  say('✓ the service and a bare kernel are up')
  return {
    isQuick,
    say,
    server,
    model,
    kernel,
    liveContainer,
    image,
  }
}
