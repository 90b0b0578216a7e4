import { FUNCTION_MEMORY_MIB, type FunctionId } from '../../../infra/function-name.ts'
import { PRICES } from '../aws-prices.ts'
import { PER_START, PER_TURN } from './operations.ts'
import { sandboxHour, sandboxSeconds } from './sandbox-cost.ts'
import type { Line, Usage } from './usage.ts'

/** Names that Fargate and the run worker resolve in the isolated network for one sandbox. */
const DNS_QUERIES_PER_START = 12
/** The chat worker waits at most this long for an execution before it ends its invocation. */
const CHAT_WAIT_SECONDS = 1
/** A start is one call to ECS; an event completes it, so no function waits for the task. */
const PLACE_SECONDS = 1
/** Memory of a function. */
export const gb = (name: FunctionId): number => FUNCTION_MEMORY_MIB[name] / 1024

/** The cost of the turns, line by line, US dollars, without model tokens. */
export function costOfTurns(usage: Usage): readonly Line[] {
  const { turns, modelSeconds, runSeconds, storedMb, storedDays } = usage
  const containers = turns / usage.turnsPerContainer
  const seconds = sandboxSeconds(usage)
  const hour = sandboxHour(usage)
  const sandbox = (name: string, each: number, how: string): Line => ({ name, usd: (containers * each * hour) / 3600, how })
  const times = (count: number, usd: number, per: number) => (turns * count * usd) / per
  const startsPerTurn = seconds.starts / usage.turnsPerContainer
  const calls = (name: keyof typeof PER_START): number => PER_TURN[name] + PER_START[name] * startsPerTurn
  const waitSeconds = modelSeconds + runSeconds
  const gbSeconds =
    gb('api') * waitSeconds +
    gb('chat') * (modelSeconds + Math.min(runSeconds, CHAT_WAIT_SECONDS)) +
    gb('run') * runSeconds +
    gb('place') * PLACE_SECONDS * startsPerTurn
  const requests =
    times(calls('dynamodbWrites'), PRICES.dynamodbMillionWrites.usd, 1e6) +
    times(calls('dynamodbReads'), PRICES.dynamodbMillionReads.usd, 1e6) +
    times(calls('sqsRequests'), PRICES.sqsMillionRequests.usd, 1e6) +
    times(PER_TURN.s3Puts, PRICES.s3ThousandPuts.usd, 1e3) +
    times(PER_TURN.s3Gets, PRICES.s3ThousandGets.usd, 1e3) +
    times(PER_TURN.kmsRequests, PRICES.kmsTenThousandRequests.usd, 1e4) +
    times(1, PRICES.cloudfrontTenThousandRequests.usd, 1e4) +
    times(PER_TURN.logKb, PRICES.logsGb.usd + PRICES.logsGbMonth.usd, 1e6) +
    times(PER_TURN.answerKb, PRICES.cloudfrontGb.usd, 1e6) +
    times(PER_TURN.endpointKb, PRICES.endpointGb.usd, 1e6) +
    times(DNS_QUERIES_PER_START * startsPerTurn, PRICES.dnsFirewallMillionQueries.usd, 1e6)
  const rows = (turns * PER_TURN.tableKb * storedDays * (PRICES.dynamodbGbMonth.usd + PRICES.dynamodbBackupGbMonth.usd)) / 1e6 / 30
  return [
    sandbox('start', seconds.start, `${round(seconds.start)} s for each of ${round(containers)} containers, from the pull of the image`),
    sandbox('run', seconds.run, `${round(seconds.run)} s of code per container`),
    sandbox('idle hold', seconds.hold, `${round(seconds.hold)} s between turns and until hibernation, per container`),
    {
      name: 'functions',
      usd: times(gbSeconds, PRICES.lambdaArmGbSecond.usd, 1) + times(PER_TURN.lambdaInvocations, PRICES.lambdaMillionRequests.usd, 1e6),
      how: `${round(gbSeconds)} GB-seconds per turn, mostly waiting for the model`,
    },
    { name: 'requests', usd: requests, how: 'table, queues, objects, keys, distribution, endpoints, DNS firewall, logs' },
    {
      name: 'storage',
      usd: (turns * storedMb * storedDays * PRICES.s3GbMonth.usd) / 1024 / 30 + rows,
      how: `${storedMb} MB of files and ${PER_TURN.tableKb} KB of rows with their backups a turn, for ${storedDays} days`,
    },
  ]
}

const round = (value: number): number => Math.round(value * 10) / 10
