// Open WebUI, unmodified, in front of a server. Its packages take 0.8 GB, so they are installed when this suite runs.
import { join } from 'node:path'
import { runCommand } from '../../scripts/setup/command.ts'
import { readSetupConfig } from '../../scripts/setup/config.ts'
import { SetupError, step } from '../../scripts/setup/progress.ts'
import { ensurePythonPackages } from '../../scripts/setup/python-packages.ts'
import { withSetupLock } from '../../scripts/setup/setup-lock.ts'
import { call, runPython, say, startScriptedUpstream, type ScriptedAnswer, type UpstreamRequest } from '../support/scripted-upstream.ts'
import { docSettings } from './doc-snippets.ts'
import { startRestartable } from './restartable-server.ts'

const HERE = import.meta.dirname
const CACHE = join(HERE, '../../.cellblock')
const FOLDER = join(CACHE, 'open-webui-python')
const REQUIREMENTS = join(HERE, 'open-webui.txt')
/** Open WebUI runs on these versions of Python only. */
const PYTHONS = ['python3', 'python3.12', 'python3.11']
const IS_SUPPORTED = 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))'

/** Null when its tests passed; otherwise why not. */
export async function runOpenWebUi(): Promise<string | null> {
  const python = await findPython()
  if (python === undefined) return 'this machine has neither Python 3.11 nor 3.12'
  const problem = await install(python)
  if (problem !== null) return problem
  const upstream = await startScriptedUpstream(answer)
  const models = JSON.stringify([{ name: 'scripted', base_url: upstream.baseUrl, api_key: 'none' }])
  const server = await startRestartable({ SANDBOX_PRELOAD: '', CELLBLOCK_MODELS: models })
  try {
    const [interpreter, tools] = docSettings('Open WebUI', server)
    const [terminal] = docSettings("Open WebUI's terminal", server)
    const env = {
      ...process.env,
      OPEN_WEBUI_INTERPRETER: JSON.stringify(interpreter),
      OPEN_WEBUI_TOOLS: JSON.stringify(tools),
      OPEN_WEBUI_TERMINAL: JSON.stringify(terminal),
      OPEN_WEBUI_RESTART: server.restartUrl,
      OPEN_WEBUI_MODEL: 'scripted',
    }
    const onLine = (line: string): void => void process.stdout.write(`${line}\n`)
    const { code } = await runCommand(join(FOLDER, 'bin/python'), ['test_open_webui.py'], { cwd: HERE, env, onLine })
    return code === 0 ? null : `exit code ${code}`
  } finally {
    await server.stop()
    await upstream.stop()
  }
}

async function findPython(): Promise<string | undefined> {
  for (const program of PYTHONS) if ((await runCommand(program, ['-c', IS_SUPPORTED], { env: process.env })).code === 0) return program
  return undefined
}

/** Null when it is installed; otherwise why not. */
async function install(python: string): Promise<string | null> {
  const options = { config: readSetupConfig(), mayInstall: false, python, pipOptions: ['--no-deps'] }
  try {
    await step('Open WebUI', { always: true }, async (progress) => {
      await withSetupLock(join(CACHE, 'setup.lock'), progress, () =>
        ensurePythonPackages({ folder: FOLDER, requirements: REQUIREMENTS }, options, progress),
      )
      return { found: 'as pinned', value: undefined }
    })
    return null
  } catch (error) {
    if (error instanceof SetupError) return error.message
    throw error
  }
}

/** What the model runs for a message; each other message gets a calculation. */
const CODE: Readonly<Record<string, string>> = {
  'Write a file.': "open('/mnt/data/note.txt', 'w').write('written')",
  'Draw a line.': 'import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()',
}

const PROGRAM = 'import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.savefig("plot.png")\nprint("drawn")\n'
/** What the model does in a terminal for a message. */
const IN_TERMINAL: Readonly<Record<string, { readonly name: string; readonly arguments: object }>> = {
  'Write the program.': { name: 'write_file', arguments: { path: 'draw.py', content: PROGRAM } },
  'Run the program.': { name: 'run_command', arguments: { command: 'python3 draw.py', wait: 60 } },
  'Show the plot.': { name: 'display_file', arguments: { path: 'plot.png' } },
  'List the files.': { name: 'list_files', arguments: {} },
}

/** A model that runs code once in each turn, with the tool that it has, and repeats what it read. */
function answer({ body: { messages, tools } }: UpstreamRequest): ScriptedAnswer {
  const asked = messages.filter(({ role, content }) => role === 'user' && typeof content === 'string').map(({ content }) => String(content))
  const question = asked.at(-1) ?? ''
  const last = messages.at(-1)
  // Open WebUI sends the pictures of a result after it, as a message of the user.
  if (last?.role === 'tool' || typeof last?.content !== 'string')
    return say(
      question === 'Write a file.'
        ? 'See [the note](sandbox:/mnt/data/note.txt).'
        : textOf(messages.findLast(({ role }) => role === 'tool')?.content),
    )
  if (question.includes('Generate a concise title')) return say('{"title": "Products of numbers"}')
  const names = tools?.map((tool) => tool.function.name) ?? []
  const used = IN_TERMINAL[question]
  if (used !== undefined && names.includes(used.name)) return call({ name: used.name, arguments: JSON.stringify(used.arguments) })
  if (names.includes('cellblock_execute_code'))
    return call({ name: 'cellblock_execute_code', arguments: JSON.stringify(inContainer(question, messages)) })
  // Another number in each turn: a turn without the history of the chat would repeat the first one.
  return names.includes('python')
    ? runPython(CODE[question] ?? `print(6 * 7 * ${asked.length})`)
    : say(`I have no tool that runs code, only: ${names.join(', ')}`)
}

/** The first turn sets a variable, and later turns use it in the container that the result of the first one names. */
function inContainer(question: string, messages: UpstreamRequest['body']['messages']): Readonly<Record<string, string>> {
  const [container] = /cntr_\w+/.exec(JSON.stringify(messages)) ?? []
  const code = CODE[question] ?? (container === undefined ? 'kept = 42\nprint(kept)' : 'print(kept * 2)')
  return container === undefined ? { code } : { code, container_id: container }
}

const textOf = (content: unknown): string => (typeof content === 'string' ? content : JSON.stringify(content))
