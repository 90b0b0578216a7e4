import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { readArguments } from './arguments.ts'
import { CommandError, type Command } from './command.ts'

export const backup: Command = {
  usage: 'backup FOLDER',
  summary: 'copy rows and objects into a new folder, also while the server runs',
  async run(args, deps) {
    const { positionals } = readArguments(args, ['FOLDER'], {})
    const folder = resolve(deps.folder, positionals[0] ?? '')
    if ((await stat(folder).catch(() => null)) !== null)
      throw new CommandError(`${folder} exists already. A backup needs a new folder, so that it never mixes with an older one.`)
    await deps.backUp(folder)
    deps.out(`${folder}\n`)
    deps.note('Restore it by starting a server on a copy: npm start -- --data COPY\n')
    return 0
  },
}
