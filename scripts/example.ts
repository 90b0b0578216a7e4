// `npm run example -- NAME [ARGUMENT …]` runs an example with the project's Node, in the folder in which the command was called.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readSetupConfig } from './setup/config.ts'

const EXAMPLES = join(import.meta.dirname, '..', 'examples')
/** How the program of an example starts, by its name. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'main.ts': [process.execPath, '--disable-warning=ExperimentalWarning'],
  'main.py': ['/usr/bin/env', 'python3'],
}
const programOf = (name: string): string | undefined => Object.keys(PROGRAMS).find((file) => existsSync(join(EXAMPLES, name, file)))

/** Ends with a sentence, where an example would end with an error of its library. Without a key the example itself says what is missing. */
async function checkServer(env: NodeJS.ProcessEnv): Promise<void> {
  const url = env['CELLBLOCK_URL'] ?? 'http://127.0.0.1:8787'
  if (env['CELLBLOCK_API_KEY'] === undefined) return
  const isThere = await fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  )
  if (isThere) return
  console.error(`No server answers at ${url}. Start one with \`npm start\`, or set CELLBLOCK_URL to the address of yours.`)
  process.exit(1)
}

const [name = '', ...args] = process.argv.slice(2)
const names = readdirSync(EXAMPLES).filter((folder) => programOf(folder) !== undefined)
const program = names.includes(name) ? programOf(name) : undefined
if (program !== undefined) {
  const { environment: env } = readSetupConfig()
  await checkServer(env)
  // npm moves to the project's folder and keeps the user's own here.
  process.chdir((env['npm_lifecycle_event'] === 'example' ? env['INIT_CWD'] : undefined) ?? process.cwd())
  const [command = '', ...before] = PROGRAMS[program] ?? []
  process.execve?.(command, [command, ...before, join(EXAMPLES, name, program), ...args], env)
} else {
  const readme = join('examples', name, 'README.md')
  if (name !== '' && existsSync(join(EXAMPLES, '..', readme))) console.error(`${name} is not one program. ${readme} says how it is used.\n`)
  console.error(`Usage: npm run example -- NAME [ARGUMENT …]\n\nNAME is one of ${names.join(', ')}. examples/README.md describes them.`)
  process.exitCode = 2
}
