import { setTimeout as delay } from 'node:timers/promises'
import { newSandbox, SANDBOX_START_MS } from '../../../services/operations/sandboxes/new-sandbox.ts'
import { refusedCheck } from '../../../services/model/sandboxes/isolation-checks.ts'
import type { MemoryTier } from '../../../services/model/limits.ts'
import { newId } from '../../../services/model/ids.ts'
import { DriverError, type SandboxDriver, type SandboxStatus } from '../../../services/ports/sandbox-driver.ts'
import { fail, ok, type Finding } from '../finding.ts'

/** In the order of the probe's bits (`runtime-image/PROTOCOL.md`). */
const NETWORK_CHECKS = [
  ['Internet', 'a connection to an outside host succeeded: check routes, gateways and security groups of the Network stack'],
  ['Names', 'a name outside the allow list was resolved: check the DNS firewall of the Guard stack'],
  ['Credentials', 'AWS credentials were available: the task definition must have no task role'],
  ['Foreign bucket', 'an upload to another bucket succeeded: check the policy of the S3 gateway endpoint of the sandboxes'],
  ['Neighbours', 'a connection to another endpoint of the network succeeded: check the security groups'],
] as const
const EXIT_BASE = 32

export interface PollOptions {
  readonly now: () => number
  /** Poll interval, milliseconds. */
  readonly pollMs: number
  /** How long a sandbox must stay up: it checks its isolation in that time and exits if a check fails. */
  readonly settleMs: number
}

/** Not a sandbox id, so that the reconciler does not stop the task as an orphan. */
const doctorId = (): string => `doctor-${newId('sandbox')}`

/** Starts a real sandbox as the service does, waits until it has checked its isolation, and stops it. */
export async function checkSandbox(driver: SandboxDriver, tier: MemoryTier, poll: PollOptions): Promise<Finding> {
  const what = 'Sandbox'
  const id = doctorId()
  const { publicKey } = newSandbox({ memoryTier: tier, image: driver.images.resolve().reference, claimedBy: null }, poll.now())
  const began = poll.now()
  try {
    await driver.start({ sandboxId: id, memoryTier: tier, publicKey, isAwaited: true }, AbortSignal.timeout(SANDBOX_START_MS))
    const up = await pollStatus(driver, id, { ...poll, isDone: (status) => status.phase === 'ready', timeoutMs: SANDBOX_START_MS })
    if (up.phase === 'starting') return fail(what, `is not up after ${SANDBOX_START_MS / 1000} s. Inspect the task ${id} in ECS.`)
    const seconds = Math.round((poll.now() - began) / 1000)
    const later = up.phase === 'gone' ? up : await pollStatus(driver, id, { ...poll, isDone: () => false, timeoutMs: poll.settleMs })
    if (later.phase !== 'gone') return ok(what, `tier ${tier} was up after ${seconds} s and passed its isolation checks`)
    return fail(what, sentenceOf(later))
  } catch (error) {
    return fail(what, error instanceof DriverError ? error.message : String(error))
  } finally {
    await driver.stop(id).catch(() => undefined)
  }
}

/** Runs the network probe in a task like a sandbox's; one finding per isolation layer. */
export async function checkNetwork(driver: SandboxDriver, tier: MemoryTier, poll: PollOptions): Promise<readonly Finding[]> {
  const id = doctorId()
  try {
    const { publicKey } = newSandbox({ memoryTier: tier, image: driver.images.resolve().reference, claimedBy: null }, poll.now())
    await driver.start({ sandboxId: id, memoryTier: tier, publicKey, isAwaited: true }, AbortSignal.timeout(SANDBOX_START_MS))
    const end = await pollStatus(driver, id, { ...poll, isDone: () => false, timeoutMs: SANDBOX_START_MS + 120_000 })
    return end.phase === 'gone'
      ? networkFindings(end)
      : [fail('Network', `The probe ${id} did not end. Stop that task in ECS and run the doctor again.`)]
  } catch (error) {
    return [fail('Network', error instanceof DriverError ? error.message : String(error))]
  } finally {
    await driver.stop(id).catch(() => undefined)
  }
}

type Gone = Extract<SandboxStatus, { phase: 'gone' }>

export function networkFindings(end: Gone): readonly Finding[] {
  const failedBits = (end.exitCode ?? 0) - EXIT_BASE
  if (failedBits < 0 || failedBits >= 1 << NETWORK_CHECKS.length)
    return [fail('Network', `The probe could not run, so the network is unchecked. ${sentenceOf(end)}`)]
  return NETWORK_CHECKS.map(([what, sentence], bit) => ((failedBits >> bit) & 1 ? fail(what, `${sentence}.`) : ok(what, 'blocked')))
}

function sentenceOf({ reason, exitCode, detail }: Gone): string {
  if (reason === 'refused')
    return `The sandbox failed the isolation check ${refusedCheck(exitCode) ?? 'unknown'} (exit code ${exitCode}). Do not use this deployment.`
  const reported = [detail, exitCode === null ? undefined : `Exit code ${exitCode}.`].filter(Boolean).join(' ')
  const advice = /CannotPull|pull/i.test(reported)
    ? 'The image could not be pulled: push it (npm run deploy does), or check the ECR endpoints and the six allowed DNS names.'
    : 'The task ended.'
  return `${advice} ${reported}`.trim()
}

/** Polls until the sandbox is gone or `isDone`. ECS may not show a task that it has just accepted, so a young one does not count as lost. */
async function pollStatus(
  driver: SandboxDriver,
  id: string,
  { now, pollMs, isDone, timeoutMs }: PollOptions & { readonly isDone: (status: SandboxStatus) => boolean; readonly timeoutMs: number },
): Promise<SandboxStatus> {
  const began = now()
  for (;;) {
    const status = await driver.inspect(id)
    const isUnseen = status.phase === 'gone' && status.exitCode === null && status.reason === 'lost' && now() - began < 60_000
    if ((status.phase === 'gone' && !isUnseen) || isDone(status) || now() - began >= timeoutMs) return status
    await delay(pollMs)
  }
}
