import { fargateCostPerHour } from '../../../services/adapters/drivers/fargate/profile.ts'
import type { Usage } from './usage.ts'

export const HOURS_A_MONTH = 730
/** Fargate's minimum billing time of a task. */
const MIN_TASK_SECONDS = 60
/** Spot's discount moves with demand; AWS says "up to 70 %". */
const SPOT_SHARE_OF_PRICE = 0.3

/** One hour of a sandbox, US dollars. */
export function sandboxHour({
  tier,
  architecture,
  spotShare,
  diskGiB,
  vcpu,
}: Pick<Usage, 'tier' | 'architecture' | 'spotShare' | 'diskGiB' | 'vcpu'>): number {
  return fargateCostPerHour(tier, { architecture, diskGiB, vcpu }) * (1 - spotShare * (1 - SPOT_SHARE_OF_PRICE))
}

/** Billed seconds of one container's sandbox, by purpose. */
export function sandboxSeconds(usage: Usage): {
  readonly start: number
  readonly run: number
  readonly hold: number
  readonly starts: number
} {
  const { turnsPerContainer: turns, runSeconds, gapSeconds, idleSeconds, startSeconds } = usage
  const run = turns * runSeconds
  // A pause longer than the idle time stops the sandbox; the next turn restores the container in another one.
  const sleeps = gapSeconds > idleSeconds
  const starts = sleeps ? turns : 1
  const hold = sleeps ? turns * idleSeconds : (turns - 1) * gapSeconds + idleSeconds
  const billedMinimum = Math.max(0, MIN_TASK_SECONDS * starts - run - hold - startSeconds * starts)
  return { start: startSeconds * starts, run, hold: hold + billedMinimum, starts }
}
