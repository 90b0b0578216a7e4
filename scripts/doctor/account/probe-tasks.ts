import { setTimeout as delay } from 'node:timers/promises'
import { newSandbox, SANDBOX_START_MS } from '../../../services/core/sandboxes/new-sandbox.ts'
import type { MemoryTier } from '../../../services/core/limits.ts'
import { newId } from '../../../services/core/ids.ts'
import { DriverError, type SandboxDriver, type SandboxStatus } from '../../../services/core/ports/sandbox-driver.ts'
import { fail, ok, type Finding } from '../finding.ts'

/** In the order of the probe's bits (`runtime-image/PROTOCOL.md`). */
const WALLS = [
  ['Internet', 'a connection to a host outside was possible: look for a route, a gateway or a wide security group in the Network stack'],
  ['Names', 'a name that is not allowed was resolved: look at the DNS firewall in the Guard stack'],
  ['Credentials', 'keys of AWS were to be had: the task definition must have no task role'],
  ['Foreign bucket', 'an upload to another bucket went through: look at the policy of the S3 gateway endpoint of the sandboxes'],
  ['Neighbours', 'a connection to another endpoint of the network was possible: look at the security groups'],
] as const
const EXIT_BASE = 32

export interface TaskWatch {
  readonly now: () => number
  /** Between two looks, milliseconds. */
  readonly pollMs: number
  /** A sandbox must stay up this long after it runs: it tests its walls in that time and ends when one falls. */
  readonly settleMs: number
}

/** A name that no sweep takes for a sandbox without a row: the reconciler leaves it alone. */
const doctorId = (): string => `doctor-${newId('sandbox')}`

/** Starts a real sandbox as the service does, waits until it has tested its own walls, and stops it. */
export async function checkSandbox(driver: SandboxDriver, tier: MemoryTier, watch: TaskWatch): Promise<Finding> {
  const what = 'Sandbox'
  const id = doctorId()
  const { publicKey } = newSandbox({ memoryTier: tier, image: driver.image, claimedBy: null }, watch.now())
  const began = watch.now()
  try {
    await driver.start({ sandboxId: id, memoryTier: tier, publicKey, isAwaited: true }, AbortSignal.timeout(SANDBOX_START_MS))
    const up = await until(driver, id, watch, (sight) => sight.phase === 'ready', SANDBOX_START_MS)
    if (up.phase === 'starting') return fail(what, `is not up after ${SANDBOX_START_MS / 1000} s. Look at the task ${id} in ECS.`)
    const seconds = Math.round((watch.now() - began) / 1000)
    const later = up.phase === 'gone' ? up : await until(driver, id, watch, () => false, watch.settleMs)
    if (later.phase === 'ready' || later.phase === 'starting')
      return ok(what, `tier ${tier} was up after ${seconds} s and found its own walls in order`)
    return fail(what, sentenceOf(later))
  } catch (error) {
    return fail(what, error instanceof DriverError ? error.message : String(error))
  } finally {
    await driver.stop(id).catch(() => undefined)
  }
}

/** Runs the network probe in a task like a sandbox's; one finding for each wall. */
export async function checkNetwork(driver: SandboxDriver, tier: MemoryTier, watch: TaskWatch): Promise<readonly Finding[]> {
  const id = doctorId()
  try {
    const { publicKey } = newSandbox({ memoryTier: tier, image: driver.image, claimedBy: null }, watch.now())
    await driver.start({ sandboxId: id, memoryTier: tier, publicKey, isAwaited: true }, AbortSignal.timeout(SANDBOX_START_MS))
    const end = await until(driver, id, watch, () => false, SANDBOX_START_MS + 120_000)
    return end.phase === 'gone'
      ? readWalls(end)
      : [fail('Network', `The probe ${id} did not end. Stop that task in ECS and run the doctor again.`)]
  } catch (error) {
    return [fail('Network', error instanceof DriverError ? error.message : String(error))]
  } finally {
    await driver.stop(id).catch(() => undefined)
  }
}

type Gone = Extract<SandboxStatus, { phase: 'gone' }>

export function readWalls(end: Gone): readonly Finding[] {
  const fallen = (end.exitCode ?? 0) - EXIT_BASE
  if (fallen < 0 || fallen >= 1 << WALLS.length)
    return [fail('Network', `The probe could not run, so nothing is known of the network. ${sentenceOf(end)}`)]
  return WALLS.map(([what, sentence], bit) => ((fallen >> bit) & 1 ? fail(what, `${sentence}.`) : ok(what, 'nothing got through')))
}

function sentenceOf({ reason, exitCode, detail }: Gone): string {
  if (reason === 'refused')
    return 'A wall did not hold in the account: the sandbox refused to serve (exit code 86). Do not use this deployment.'
  const said = [detail, exitCode === null ? undefined : `Exit code ${exitCode}.`].filter(Boolean).join(' ')
  const advice = /CannotPull|pull/i.test(said)
    ? 'The image could not be pulled: push it (npm run deploy does), or look at the ECR endpoints and the six allowed names.'
    : 'The task ended by itself.'
  return `${advice} ${said}`.trim()
}

/** Until the sandbox is gone or `enough`. ECS may not show a task that it has just taken, so a young one is not believed lost. */
async function until(
  driver: SandboxDriver,
  id: string,
  { now, pollMs }: TaskWatch,
  enough: (sight: SandboxStatus) => boolean,
  patienceMs: number,
): Promise<SandboxStatus> {
  const began = now()
  for (;;) {
    const sight = await driver.inspect(id)
    const isUnseen = sight.phase === 'gone' && sight.exitCode === null && sight.reason === 'lost' && now() - began < 60_000
    if ((sight.phase === 'gone' && !isUnseen) || enough(sight) || now() - began >= patienceMs) return sight
    await delay(pollMs)
  }
}
