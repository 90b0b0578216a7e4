import { CHECKS, type CheckName } from './checks.ts'
import { runCommand } from './setup/command.ts'

/** Runs one check, prints its outcome on standard output (its findings only when it fails), and answers whether it passed. */
export async function runCheck(name: CheckName): Promise<boolean> {
  const { title, args } = CHECKS[name]
  const startedAt = performance.now()
  const { code, output } = await runCommand(process.execPath, args)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(code === 0 ? `✓ ${title} (${seconds} s)` : `✗ ${title} (${seconds} s)\n${output.trimEnd()}`)
  return code === 0
}
