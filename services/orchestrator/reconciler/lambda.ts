import { jsonLog } from '../../storage/json-log.ts'
import { placeConfigFromEnv } from '../config.ts'
import { placeDeps } from '../place/place-deps.ts'
import { reconcile, type Reconciled } from './reconcile.ts'

const deps = placeDeps(placeConfigFromEnv())

/** Runs on a schedule and on task state changes, whatever their content: one pass looks at everything that is due. */
export async function handler(): Promise<Reconciled> {
  const outcome = await reconcile(deps)
  jsonLog.emit({ event: 'reconcile', outcome: outcome.failed === 0 ? 'ok' : 'error', ...outcome })
  return outcome
}
