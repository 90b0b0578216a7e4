import { backlog } from './backlog.ts'
import { cancelDelete } from './cancel-delete.ts'
import { deaths } from './deaths.ts'
import { duplicates } from './duplicates.ts'
import { faults } from './faults.ts'
import { poison } from './poison.ts'
import { races } from './races.ts'
import { restarts } from './restarts.ts'
import { runTask } from './run-task.ts'
import { server } from './server.ts'
import { turns } from './turns.ts'
import { sandboxDeaths } from './sandbox-deaths.ts'
import type { Scenario } from './scenario.ts'

/** In the order in which they are played. */
export const SCENARIOS: readonly Scenario[] = [
  deaths,
  races,
  turns,
  duplicates,
  faults,
  runTask,
  poison,
  sandboxDeaths,
  cancelDelete,
  backlog,
  restarts,
  server,
]
