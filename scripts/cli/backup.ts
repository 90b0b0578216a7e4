import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CliError } from '../../packages/cli/src/errors.ts'
import { examples } from '../../packages/cli/src/json-output.ts'
import type { AddCommand } from '../../packages/cli/src/program.ts'

export const addBackup =
  (backUp: (folder: string) => Promise<void>): AddCommand =>
  (program, { io }) => {
    program
      .command('backup')
      .description('Copies rows and objects into a new folder, also while the server runs.')
      .argument('<folder>')
      .addHelpText('after', examples('npm run cli -- backup /backups/cellblock-2026-11-22'))
      .action(async (name: string) => {
        const folder = resolve(io.folder, name)
        if ((await stat(folder).catch(() => null)) !== null)
          throw new CliError(`${folder} exists already. A backup needs a new folder, so that it never mixes with an older one.`)
        await backUp(folder)
        io.out(`${folder}\n`)
        io.note('Restore it by starting a server on a copy: npm start -- --data COPY\n')
      })
  }
