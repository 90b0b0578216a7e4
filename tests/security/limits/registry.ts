import type { Threshold } from './threshold.ts'
import { processes } from './c-20-processes.ts'
import { memory } from './c-21-memory.ts'
import { disk } from './c-22-disk.ts'
import { output } from './c-23-output.ts'
import { interrupts } from './c-24-interrupts.ts'
import { kernelDeath } from './c-25-kernel-death.ts'
import { wallClock } from './c-26-wall-clock.ts'
import { neighbour } from './c-27-neighbour.ts'
import { stressSweep } from './c-28-stress.ts'

/** All limit thresholds, in the order in which they are measured. */
export const THRESHOLDS: readonly Threshold[] = [
  processes,
  memory,
  disk,
  output,
  interrupts,
  kernelDeath,
  wallClock,
  neighbour,
  stressSweep,
]
