// Runs the static checks named in the arguments (all without any); exits 1 when one fails.
import { CHECK_NAMES } from './checks.ts'
import { runCheck } from './run-check.ts'
import { endWithSignals } from './setup/command.ts'

endWithSignals()
const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !CHECK_NAMES.some((known) => known === name))
if (unknown.length > 0) {
  console.error(`✗ Unknown check ${unknown.join(', ')}. Known: ${CHECK_NAMES.join(', ')}.`)
  process.exitCode = 1
} else for (const name of CHECK_NAMES) if (asked.length === 0 || asked.includes(name)) if (!(await runCheck(name))) process.exitCode = 1
