// Runs the static checks named in the arguments, or all of them; exits 1 if one fails.
import { CHECK_NAMES } from './checks.ts'
import { runCheck } from './run-check.ts'
import { exitOnSignals } from './setup/command.ts'

exitOnSignals()
const requested = process.argv.slice(2)
const unknown = requested.filter((name) => !CHECK_NAMES.some((known) => known === name))
if (unknown.length > 0) {
  console.error(`✗ Unknown check ${unknown.join(', ')}. Known: ${CHECK_NAMES.join(', ')}.`)
  process.exitCode = 1
} else
  for (const name of CHECK_NAMES) if (requested.length === 0 || requested.includes(name)) if (!(await runCheck(name))) process.exitCode = 1
