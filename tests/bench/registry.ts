import type { Bench } from './bench.ts'
import { baseline } from './figures/baseline.ts'
import { breakdown } from './figures/breakdown.ts'
import { bundle } from './figures/bundle.ts'
import { cold } from './figures/cold.ts'
import { command } from './figures/command.ts'
import { cost } from './figures/cost.ts'
import { fairness } from './figures/fairness.ts'
import { fileCopy } from './figures/file-copy.ts'
import { fork } from './figures/fork.ts'
import { fresh } from './figures/fresh.ts'
import { imageSize } from './figures/image-size.ts'
import { languages } from './figures/languages.ts'
import { live } from './figures/live.ts'
import { liveData } from './figures/live-data.ts'
import { memory } from './figures/memory.ts'
import { network } from './figures/network.ts'
import { plot } from './figures/plot.ts'
import { ready } from './figures/ready.ts'
import { suspend } from './figures/suspend.ts'
import { throughput } from './figures/throughput.ts'
import { turn } from './figures/turn.ts'
import { variants } from './figures/variants.ts'
import { wake } from './figures/wake.ts'
import { wires } from './figures/wires.ts'

/** In execution order; the benchmark with the highest load comes last. */
export const BENCHES: readonly Bench[] = [
  live,
  liveData,
  wires,
  languages,
  ready,
  command,
  baseline,
  plot,
  turn,
  fresh,
  memory,
  cold,
  throughput,
  fairness,
  fileCopy,
  network,
  wake,
  suspend,
  fork,
  imageSize,
  variants,
  bundle,
  cost,
  breakdown,
]

/** Runs only when it is asked for by name or with --breakdown. */
export const BREAKDOWN = breakdown.name
