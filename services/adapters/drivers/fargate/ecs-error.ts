import type { Failure } from '@aws-sdk/client-ecs'
import { DriverError } from '../../../ports/sandbox-driver.ts'

type Kind = DriverError['kind']

/** The first match counts. The texts are those of ECS, in `failures[].reason` and in messages of its ClientException. */
const REASONS: readonly (readonly [RegExp, Kind, string])[] = [
  [/throttl|rate exceeded|too many concurrent/i, 'throttled', 'ECS asks for fewer starts a second'],
  [
    /limit on the number of|quota|limit exceeded|reached the limit/i,
    'capacity',
    'A quota of the account is used up; raise "Fargate On-Demand vCPU resource count" in Service Quotas',
  ],
  [/capacity is unavailable|^RESOURCE:|ENI/i, 'capacity', 'Fargate has no capacity in these subnets now; configure subnets in more zones'],
]

const EXCEPTIONS: Readonly<Record<string, Kind>> = {
  ThrottlingException: 'throttled',
  TooManyRequestsException: 'throttled',
  RequestLimitExceeded: 'throttled',
  LimitExceededException: 'capacity',
  AccessDeniedException: 'configuration',
  UnrecognizedClientException: 'configuration',
  InvalidSignatureException: 'configuration',
  ExpiredTokenException: 'configuration',
  CredentialsProviderError: 'configuration',
  ClusterNotFoundException: 'configuration',
  InvalidParameterException: 'configuration',
  ClientException: 'configuration',
  UnsupportedFeatureException: 'configuration',
  PlatformUnknownException: 'configuration',
  PlatformTaskDefinitionIncompatibilityException: 'configuration',
  BlockedException: 'configuration',
}

/** What a thrown SDK error means for the step that asked for a sandbox. */
export function toDriverError(error: unknown): DriverError {
  if (error instanceof DriverError) return error
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  const hint = REASONS.find(([words]) => words.test(message))
  const byName = EXCEPTIONS[name]
  if (hint && (byName === undefined || name === 'ClientException'))
    return new DriverError(hint[1], `${hint[2]}: ${brief(message)}`, { cause: error })
  if (byName === 'configuration')
    return new DriverError(
      byName,
      `ECS refuses this set-up (${name}): ${brief(message)} Check the stack's roles, cluster and task definitions.`,
      { cause: error },
    )
  return new DriverError(byName ?? 'unavailable', `ECS did not answer as it should (${name}): ${brief(message)}`, { cause: error })
}

/** RunTask can answer 200 and start nothing: the reason is in `failures`. */
export function fromFailures(failures: readonly Failure[]): DriverError {
  const said = failures.map((failure) => [failure.reason, failure.detail].filter(Boolean).join(' ')).join('; ')
  const hint = REASONS.find(([words]) => words.test(said))
  if (hint) return new DriverError(hint[1], `${hint[2]}: ${brief(said)}`)
  if (/MISSING|INACTIVE/.test(said))
    return new DriverError('configuration', `ECS misses something it needs: ${brief(said)}. Deploy the stack again.`)
  return new DriverError('unavailable', `ECS started no task: ${said === '' ? 'no reason given' : brief(said)}.`)
}

const brief = (text: string): string => text.slice(0, 400)
