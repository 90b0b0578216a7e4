// `npm run test:clients [-- --only TEXT] [--write] [--function-url]` runs third-party clients against a local server. They know only its address and a
// key. With --e2b DIR or --n8n DIR it runs their own suites instead, with --dify DIR a plugin of Dify, from clones in that folder. With --function-url its answers pass the handler of the API's function and a stand-in of the function URL.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startServerBehindFunctionUrl } from '../support/function-url-relay.ts'
import { startServer } from '../support/local-server.ts'
import { readOptions } from '../../scripts/read-options.ts'
import { readSetupConfig } from '../../scripts/setup/config.ts'
import { ensurePythonPackages } from '../../scripts/setup/python-packages.ts'
import { call, runPython, say, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { checkClientPackage } from './client-package.ts'
import { runDifyPlugin } from './dify-plugin/run-dify.ts'
import { docSnippets, runDocSnippet } from './doc-snippets.ts'
import { fastGptPackages, runFastGpt } from './fastgpt/run-fastgpt.ts'
import { runE2bSuites } from './e2b-suites/run-suites.ts'
import { runN8nImage } from './n8n-image.ts'
import { runN8nSuites } from './n8n-suites/run-suites.ts'
import { runMcpConformance } from './mcp-conformance.ts'
import { runOpenWebUi } from './open-webui.ts'
import { writePassTable, type ClientRow } from './pass-table.ts'
import { runWebApps, webAppNames } from './web-apps/run-web-apps.ts'

const HERE = import.meta.dirname
const pythonOf = (name: string): string => join(HERE, `../../.cellblock/${name}/bin/python`)

/** The versions that are installed, by the names of the packages. */
const VERSIONS: Readonly<Record<string, string>> = {
  ...(JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }).dependencies,
}
const npm = (...names: readonly string[]): string => names.map((name) => `\`${name}\` ${VERSIONS[name]}`).join(', ')
const pypi = (name: string, requirements = 'requirements.txt'): string => {
  const [, version] = new RegExp(`^${name}==(.+)$`, 'm').exec(readFileSync(join(HERE, requirements), 'utf8')) ?? []
  return `\`${name}\` ${version} (PyPI)`
}

interface Suite {
  readonly client: string
  readonly covers: string
  /** Too large to install with the others: runs only if `--only` is given. */
  readonly isOnRequest?: boolean
  /** Null when it passed. */
  readonly run: () => Promise<string | null>
}

/** Runs a program with inherited output. */
async function run(program: string, args: readonly string[]): Promise<string | null> {
  const child = spawn(program, args, { cwd: HERE, env: { ...process.env, ...(await serverEnv()) }, stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code === 0 ? null : `exit code ${code}`
}
const node = (file: string) => () => run(process.execPath, ['--test', '--test-force-exit', `${file}.test.mjs`])
const python = (file: string) => () => run(pythonOf('client-compat-python'), [`${file}.py`])

const CODE = 'the code interpreter, whole and streamed'
/** Their packages take a gigabyte and are installed when the section runs. */
const LARGE_SECTIONS: readonly string[] = ['CrewAI']
const SUITES: readonly Suite[] = [
  { client: npm('openai'), covers: 'models, files, uploads, containers, responses, conversations', run: node('openai') },
  { client: pypi('openai'), covers: 'the same', run: python('test_openai') },
  { client: npm('@openai/agents'), covers: CODE, run: node('agents') },
  {
    client: `${npm('@openai/agents')}, hosted \`shellTool\``,
    covers: 'commands in a new container, whole and streamed',
    run: node('shell'),
  },
  { client: npm('@ai-sdk/openai', 'ai'), covers: CODE, run: node('ai-sdk') },
  { client: npm('@langchain/openai'), covers: CODE, run: node('langchain') },
  { client: 'the AI SDK and LangChain by chat completions', covers: CODE, run: node('chat-completions') },
  {
    client: npm('@e2b/code-interpreter'),
    covers: 'sandboxes, code with live output and results, contexts, time limits, errors',
    run: node('e2b-interpreter'),
  },
  {
    client: npm('e2b'),
    covers: 'files and folders, watching, commands in foreground and background, input, signals, terminals, pause and connect',
    run: node('e2b-envd'),
  },
  {
    client: pypi('e2b-code-interpreter'),
    covers: 'code, files, folders, watching, commands and terminals in the binary encoding',
    run: python('test_e2b'),
  },
  {
    client: `FastGPT's calls of ${fastGptPackages()}`,
    covers: 'finding a sandbox by metadata, files, commands, pause, a restart of the server, another key',
    run: runFastGpt,
  },
  {
    client: npm('@librechat/agents'),
    covers: 'Python and bash with files, programs that call tools in Python and bash, cancelling',
    run: node('librechat'),
  },
  {
    client: npm('@n8n/sandbox-client'),
    covers: 'sandboxes by UUID, commands with live output, resuming after a cut, cancelling, files',
    run: node('n8n'),
  },
  {
    client: "The image for n8n's AI assistant",
    covers: `the same tests in the image of this page, with Node, ripgrep and TypeScript in a workspace; runs only with \`--only "image for n8n"\``,
    isOnRequest: true,
    run: runN8nImage,
  },
  {
    client: `Open WebUI: ${pypi('open-webui', 'open-webui.txt')}`,
    covers:
      'chats of its page with the code interpreter, with the tools of `/mcp` and with its terminal, also of two users and after a restart; runs only with `--only "Open WebUI"`',
    isOnRequest: true,
    run: runOpenWebUi,
  },
  {
    client: `Web apps on ports: ${webAppNames()}`,
    covers: 'the apps as their guides start them, used in Chromium ([ports.md](ports.md#apps)); runs only with `--only "Web apps"`',
    isOnRequest: true,
    run: runWebApps,
  },
  ...[...new Set(docSnippets().map(({ client }) => client))].map((name) => ({
    client: `${name}, as on this page`,
    covers: `every block of its section${LARGE_SECTIONS.includes(name) ? `; runs only with \`--only ${name}\`` : ''}`,
    isOnRequest: LARGE_SECTIONS.includes(name),
    run: () => runBlocks(name),
  })),
]

/** The Python packages of the other sections are in `doc-snippets`. Clients that need an older `openai` have a separate one. */
const ENVIRONMENTS: Readonly<Record<string, string>> = {
  'OpenAI for Python': 'client-compat',
  'E2B and frameworks that use it': 'client-compat',
  LiteLLM: 'doc-snippets-openai-2',
  LangChain: 'doc-snippets-openai-2',
  CrewAI: 'doc-snippets-crewai',
  LlamaIndex: 'doc-snippets-openai-2',
}
async function runBlocks(name: string): Promise<string | null> {
  const { url, apiKey } = await server()
  const environment = ENVIRONMENTS[name] ?? 'doc-snippets'
  if (LARGE_SECTIONS.includes(name)) {
    const python = { folder: join(HERE, `../../.cellblock/${environment}-python`), requirements: join(HERE, `${environment}.txt`) }
    await ensurePythonPackages(python, { config: readSetupConfig(), mayInstall: false }, (line) => void process.stdout.write(`${line}\n`))
  }
  for (const snippet of docSnippets().filter(({ client }) => client === name)) {
    const problem = await runDocSnippet(snippet, {
      url,
      apiKey,
      model: 'scripted',
      python: pythonOf(`${environment}-python`),
    })
    if (problem !== null) return `${snippet.language}: ${problem}`
  }
  return null
}

const options = readOptions('test:clients', {
  only: { type: 'string' },
  write: { type: 'boolean', default: false },
  'function-url': { type: 'boolean', default: false },
  e2b: { type: 'string' },
  n8n: { type: 'string' },
  dify: { type: 'string' },
})
if (options.e2b !== undefined)
  process.exit((await runE2bSuites({ folder: options.e2b, only: options.only, isWritten: options.write })) ? 0 : 1)
if (options.dify !== undefined) process.exit((await runDifyPlugin({ folder: options.dify })) ? 0 : 1)
if (options.n8n !== undefined) process.exit((await runN8nSuites({ folder: options.n8n, isWritten: options.write })) ? 0 : 1)

/** A model that runs code once, by the tool that it has, and then repeats what it read. */
const upstream = await startScriptedUpstream(({ body }) => {
  const last = body.messages.at(-1)
  if (last?.role === 'tool') return say(String(last.content))
  const hasShell = body.tools?.some((tool) => tool.function.name === 'shell') === true
  return hasShell
    ? call({ name: 'shell', arguments: JSON.stringify({ commands: ['echo $((6 * 7))', 'exit 3'] }) })
    : runPython('print(6 * 7)')
})
const models = JSON.stringify([{ name: 'scripted', base_url: upstream.baseUrl, api_key: 'none' }])
/** Started by the first client that needs it. */
const started: { server?: ReturnType<typeof start> } = {}
async function start(): Promise<{ readonly url: string; readonly apiKey: string; stop(): Promise<unknown> }> {
  const env = { SANDBOX_PRELOAD: '', CELLBLOCK_MODELS: models }
  if (!options['function-url']) return startServer({ env })
  const behind = await startServerBehindFunctionUrl(env)
  return { url: behind.server.url, apiKey: behind.server.apiKey, stop: () => behind.stop() }
}
const server = () => (started.server ??= start())
const serverEnv = async () => {
  const { url, apiKey } = await server()
  return { CELLBLOCK_URL: url, CELLBLOCK_API_KEY: apiKey, CELLBLOCK_MODEL: 'demo', CELLBLOCK_SHELL_MODEL: 'scripted' }
}

const isWanted = (client: string): boolean => client.toLowerCase().includes((options.only ?? '').toLowerCase())
const rows: ClientRow[] = []
const isLeftOut = ({ isOnRequest }: Suite): boolean => isOnRequest === true && options.only === undefined
for (const { client, covers, run: runSuite } of SUITES.filter((suite) => isWanted(suite.client) && !isLeftOut(suite))) {
  process.stdout.write(`▸ ${client}\n`)
  rows.push({ client, covers, problem: await runSuite() })
}
await (await started.server)?.stop()
await upstream.stop()
const CONFORMANCE = ['2026-07-28', '2025-11-25'].map((revision) => `${npm('@modelcontextprotocol/conformance')}, revision ${revision}`)
const PACKAGE = ['publint', 'attw'].map((tool) => `\`@cellblock/client\` by \`${tool}\``)
if (CONFORMANCE.some(isWanted)) rows.push(...labelled(CONFORMANCE, await runMcpConformance()))
if (PACKAGE.some(isWanted)) rows.push(...labelled(PACKAGE, await checkClientPackage()))

/** The rows of suites that report a sentence, which begins with `FAILED` for a failure. */
function labelled(clients: readonly string[], results: readonly string[]): ClientRow[] {
  return results.map((result, index) => {
    const isFailed = result.startsWith('FAILED ')
    // A problem can have many lines, and a row of the table has one.
    const [covers = ''] = result.replace('FAILED ', '').split('\n')
    return { client: clients[index] ?? result, covers, problem: isFailed ? result : null }
  })
}

process.stdout.write('\nThird-party clients:\n')
for (const { client, problem } of rows)
  process.stdout.write(`  ${problem === null ? 'passes' : 'FAILED'}  ${client}${problem === null ? '' : `: ${problem}`}\n`)
for (const { client } of SUITES.filter(isLeftOut)) process.stdout.write(`  not run ${client}: give --only to run it\n`)
process.stdout.write(`${rows.filter(({ problem }) => problem === null).length} of ${rows.length} pass\n`)
if (options.write) writePassTable(rows, [...SUITES.map(({ client }) => client), ...CONFORMANCE, ...PACKAGE])
if (rows.length === 0 || rows.some(({ problem }) => problem !== null)) process.exitCode = 1
