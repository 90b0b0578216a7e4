import { deaths } from './deaths.ts'
import { races } from './races.ts'
import type { Scenario } from './scenario.ts'

/** In the order in which they are played. */
export const SCENARIOS: readonly Scenario[] = [deaths, races]
