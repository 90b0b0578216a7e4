import type { Bar } from './bar.ts'
import { processes } from './c-20-processes.ts'
import { memory } from './c-21-memory.ts'
import { disk } from './c-22-disk.ts'
import { output } from './c-23-output.ts'
import { interrupts } from './c-24-interrupts.ts'
import { kernelDeath } from './c-25-kernel-death.ts'
import { wallClock } from './c-26-wall-clock.ts'
import { neighbour } from './c-27-neighbour.ts'
import { stressSweep } from './c-28-stress.ts'

/** What happens when a limit is hit, bar by bar. */
export const BARS: readonly Bar[] = [processes, memory, disk, output, interrupts, kernelDeath, wallClock, neighbour, stressSweep]
