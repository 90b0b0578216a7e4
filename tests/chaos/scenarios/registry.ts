import { backlog } from './backlog.ts'
import { cancelDelete } from './cancel-delete.ts'
import { workerCrashes } from './worker-crashes.ts'
import { crashAtEnd } from './crash-at-end.ts'
import { duplicates } from './duplicates.ts'
import { faults } from './faults.ts'
import { poisonMessages } from './poison-messages.ts'
import { forks } from './forks.ts'
import { races } from './races.ts'
import { rivalClaims } from './rival-claims.ts'
import { restarts } from './restarts.ts'
import { runTask } from './run-task.ts'
import { server } from './server.ts'
import { turns } from './turns.ts'
import { sandboxCrashes } from './sandbox-crashes.ts'
import { suspensions } from './suspensions.ts'
import type { Scenario } from './scenario.ts'

/** The scenarios in the order in which they run. */
export const SCENARIOS: readonly Scenario[] = [
  workerCrashes,
  suspensions,
  forks,
  crashAtEnd,
  races,
  rivalClaims,
  turns,
  duplicates,
  faults,
  runTask,
  poisonMessages,
  sandboxCrashes,
  cancelDelete,
  backlog,
  restarts,
  server,
]
