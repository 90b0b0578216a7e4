import type { CliDeps, Command } from './command.ts'
import { auditExport, auditKeygen, auditVerify } from './audit.ts'
import { backup } from './backup.ts'
import { deadLettersList } from './dead-letters-list.ts'
import { deadLettersRedrive } from './dead-letters-redrive.ts'
import { keysCreate } from './keys-create.ts'
import { keysList } from './keys-list.ts'
import { keysRevoke } from './keys-revoke.ts'
import { tenantsCreate } from './tenants-create.ts'
import { tenantsLimits } from './tenants-limits.ts'
import { tenantsList } from './tenants-list.ts'
import { tenantsPolicy } from './tenants-policy.ts'

/** Each command under the words that call it. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  'tenants create': tenantsCreate,
  'tenants list': tenantsList,
  'tenants policy': tenantsPolicy,
  'tenants limits': tenantsLimits,
  'keys create': keysCreate,
  'keys list': keysList,
  'keys revoke': keysRevoke,
  'dead-letters list': deadLettersList,
  'dead-letters redrive': deadLettersRedrive,
  'audit keygen': auditKeygen,
  'audit export': auditExport,
  'audit verify': auditVerify,
  backup,
}

export function usageText(programCommands: CliDeps['programCommands']): string {
  const commands = Object.values(COMMANDS)
  const width = Math.max(...commands.map(({ usage }) => usage.length))
  return [
    'Usage: npm run cli -- COMMAND',
    '',
    ...commands.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`),
    '',
    'tenants, keys, dead-letters and backup reach the running local server (PORT chooses one of several) through its control socket.',
    'With --data DIR they work on a data folder, also when no server runs on it.',
    "With --table NAME or TABLE_NAME they work on a table in AWS, with the SDK's default credentials.",
    '',
    'Commands of the `cellblock` program: they call a server over HTTP with the key in CELLBLOCK_API_KEY. COMMAND --help shows options and examples.',
    '',
    ...programCommands.map(({ name, summary }) => `  ${name.padEnd(12)}  ${summary}`),
    '',
  ].join('\n')
}
