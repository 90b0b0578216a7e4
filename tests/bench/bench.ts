import type { ScriptedModel } from './sides/scripted-model.ts'
import type { BareKernels } from './sides/bare-kernel.ts'
import type { BenchServer } from './sides/server.ts'
import type { Figure } from './statistics.ts'

/** The context of every benchmark. Both sides start once and stay warm, so that benchmarks can alternate between them. */
export interface BenchContext {
  readonly isQuick: boolean
  /** Tag of the sandbox image. */
  readonly image: string
  /** The service with a warm pool of `POOL_SIZE`. */
  readonly server: BenchServer
  /** A container of the service that has run code before. */
  readonly liveContainer: string
  /** One standard ipykernel without a service. */
  readonly kernel: BareKernels
  /** The model of `server`'s chat turns. */
  readonly model: ScriptedModel
  /** Prints progress. */
  readonly say: (line: string) => void
}

export const POOL_SIZE = 2

export interface BenchResult {
  readonly figures: Readonly<Record<string, Figure>>
  /** By the keys of the published thresholds. */
  readonly ratios: Readonly<Record<string, number>>
}

/** One measured figure; each has its own file. */
export interface Bench {
  readonly name: string
  readonly title: string
  run(context: BenchContext): Promise<BenchResult>
}

export const PLOT = `import numpy, pandas, matplotlib.pyplot as plt
plt.figure()
pandas.DataFrame({'y': numpy.random.default_rng(1).normal(size=200).cumsum()})['y'].plot()
plt.show()`
