import { readFile, writeFile } from 'node:fs/promises'

export interface HostSetting {
  readonly path: string
  /** The kernel's default. Another value is a choice of the operator, and stays. */
  readonly from: string
  readonly to: string
}

/**
 * Each of gVisor's programs waits for several grace periods of RCU when it starts, which take 4 to 22 ms, and less than 1 ms if they are expedited. Applies to the
 * whole machine until its next boot. `rcu_normal`, beside it, overrides it (docs/adr/0089-a-faster-resumption-on-gvisor.md).
 * https://docs.kernel.org/admin-guide/kernel-parameters.html
 */
const EXPEDITED_RCU: HostSetting = { path: '/sys/kernel/rcu_expedited', from: '0', to: '1' }

/** Resolves with the setting if it was changed, for `undoHostChange`, and with null if it stays: it cannot be changed, or the operator chose its value. */
export async function adjustHost(setting = EXPEDITED_RCU): Promise<HostSetting | null> {
  const { path, from, to } = setting
  const before = await readFile(path, 'utf8').catch(() => null)
  if (before?.trim() !== from) return null
  return writeFile(path, to).then(
    () => setting,
    () => null,
  )
}

export async function undoHostChange(change: HostSetting | null): Promise<void> {
  if (change !== null) await writeFile(change.path, change.from)
}
