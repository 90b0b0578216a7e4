import { readArguments } from './arguments.ts'
import { CommandError, type Command } from './command.ts'

export const keysRevoke: Command = {
  usage: 'keys revoke KEY_ID',
  summary: 'revoke an API key; running servers reject it within five seconds',
  async run(args, deps) {
    const { positionals } = readArguments(args, ['KEY_ID'], {})
    const id = positionals[0] ?? ''
    const key = await (await deps.tenants()).revokeKey(id, deps.clock.now())
    if (key === null) throw new CommandError(`No key ${JSON.stringify(id)} exists: \`keys list\` shows the ids.`)
    deps.out(`${key.id} of ${key.tenant} is revoked since ${new Date(key.revokedAt ?? 0).toISOString()}\n`)
    return 0
  },
}
