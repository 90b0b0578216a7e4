import type { ScriptedModel } from './sides/scripted-model.ts'
import type { BareKernels } from './sides/bare-kernel.ts'
import type { BenchServer } from './sides/server.ts'
import type { Figure } from './statistics.ts'

/** What every bench may use. The sides are started once and stay warm, so that benches alternate between them. */
export interface BenchContext {
  readonly isQuick: boolean
  /** Tag of the sandbox image. */
  readonly image: string
  /** The service with a warm pool of `POOL_SIZE`. */
  readonly server: BenchServer
  /** A container of it that has run code already. */
  readonly liveContainer: string
  /** One stock ipykernel with no service around it. */
  readonly kernel: BareKernels
  /** What answers the chat turns of `server`. */
  readonly model: ScriptedModel
  /** Progress for a person who waits. */
  readonly say: (line: string) => void
}

export const POOL_SIZE = 2

export interface BenchResult {
  readonly figures: Readonly<Record<string, Figure>>
  /** Under the keys of the published bars. */
  readonly ratios: Readonly<Record<string, number>>
}

/** One measured figure; each has its own file. */
export interface Bench {
  readonly name: string
  readonly title: string
  run(context: BenchContext): Promise<BenchResult>
}

export const PRINT = 'print(1)'
export const PLOT = `import numpy, pandas, matplotlib.pyplot as plt
plt.figure()
pandas.DataFrame({'y': numpy.random.default_rng(1).normal(size=200).cumsum()})['y'].plot()
plt.show()`
