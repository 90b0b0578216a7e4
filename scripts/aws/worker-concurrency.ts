import type { Config } from '../../infra/config.ts'
import { workerFunctions } from '../../infra/worker-concurrency.ts'
import { warn, type Finding } from '../doctor/finding.ts'
import { signedService, type SignedServiceOptions } from '../doctor/account/signed-request.ts'

/** Lambda keeps this much of the account's concurrency unreserved. */
const MIN_UNRESERVED = 100

/**
 * Whether the functions of the workers reserve their concurrency, so that no flood of calls takes it: if the account has as much beside what other functions
 * reserve. A deployment that reserves it keeps it. A finding when the account does not answer.
 */
export async function reservesWorkers(
  { api, concurrency }: Pick<Config, 'api' | 'concurrency'>,
  { lambda, service }: { readonly lambda: SignedServiceOptions; readonly service: Readonly<Record<string, string>> | null },
): Promise<boolean | Finding> {
  if (concurrency.reserved !== undefined) return concurrency.reserved
  if (service?.['ReservedWorkers'] !== undefined) return true
  // Also by a deployment that exists, in which case it is counted twice: then the workers may stay without a reservation.
  const ofApi = api.privateIngress === undefined ? (api.reservedConcurrency ?? 0) : 0
  const needed = Object.values(workerFunctions(concurrency)).reduce((sum, functions) => sum + functions, ofApi)
  try {
    const answer = await signedService('lambda', lambda)(null, {}, '/2016-08-19/account-settings/')
    if (!answer.ok) throw new Error(`GetAccountSettings: ${answer.status}`)
    const { AccountLimit } = (await answer.json()) as { AccountLimit?: { UnreservedConcurrentExecutions?: number } }
    const unreserved = AccountLimit?.UnreservedConcurrentExecutions
    if (typeof unreserved !== 'number') throw new Error('GetAccountSettings: the answer has no limit')
    return unreserved - needed >= MIN_UNRESERVED
  } catch (error) {
    return warn(
      'Lambda concurrency',
      `is not reserved for the workers (${String(error)}): these credentials need lambda:GetAccountSettings.`,
    )
  }
}
