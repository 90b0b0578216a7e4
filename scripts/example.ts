// `npm run example -- NAME [ARGUMENT …]` runs an example with the project's Node, in the folder in which the command was called.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readSetupConfig } from './setup/config.ts'

const EXAMPLES = join(import.meta.dirname, '..', 'examples')
const mainOf = (name: string): string => join(EXAMPLES, name, 'main.ts')

const [name = '', ...args] = process.argv.slice(2)
const names = readdirSync(EXAMPLES).filter((folder) => existsSync(mainOf(folder)))
if (names.includes(name)) {
  const { environment: env } = readSetupConfig()
  // npm moves to the project's folder and keeps the user's own here.
  process.chdir((env['npm_lifecycle_event'] === 'example' ? env['INIT_CWD'] : undefined) ?? process.cwd())
  process.execve?.(process.execPath, [process.execPath, '--disable-warning=ExperimentalWarning', mainOf(name), ...args], env)
} else {
  console.error(`Usage: npm run example -- NAME [ARGUMENT …]\n\nNAME is one of ${names.join(', ')}. examples/README.md describes them.`)
  process.exitCode = 2
}
