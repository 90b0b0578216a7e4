import { ConfigError, isKept, readLocalConfig } from './config.ts'
import { explainStart } from './explain-start.ts'
import { raisePriority } from './raise-priority.ts'
import { startLocalServer } from './server.ts'

const FORCE_AFTER_MS = 2_000

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** The reader of the output may end first: its terminal closes, or the process that started the server dies. The sandboxes have to be removed then too. */
function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
}

function fail(error: unknown): never {
  process.stderr.write(`✗ ${error instanceof ConfigError ? error.message : explainStart(error)}\n`)
  process.exit(1)
}

async function main(): Promise<void> {
  raisePriority()
  const config = readLocalConfig(process.argv.slice(2))
  const starting = startLocalServer(config)
  let stoppingSince: number | null = null
  const stop = (signal: NodeJS.Signals): void => {
    // A terminal's Ctrl-C arrives twice: from the terminal and from npm. Only a later one forces the exit.
    if (stoppingSince !== null && Date.now() - stoppingSince > FORCE_AFTER_MS) process.exit(1)
    if (stoppingSince !== null) return
    stoppingSince = Date.now()
    say(`\nStopping (${signal}): sandboxes and storage end now …`)
    starting.then((server) => server.stop()).then(() => process.exit(0), fail)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)

  const server = await starting
  if (stoppingSince !== null) return
  // A key that the operator chose may be in use elsewhere, and standard output often ends in a log.
  const isGiven = config.apiKey !== null
  say(`
✓ Cellblock is ready at ${server.url}${server.signInUrl === null ? '' : `\n  Open       ${server.signInUrl}   (signs in once)`}
  API key    ${isGiven ? 'the value of CELLBLOCK_API_KEY' : server.apiKey}${config.adminKey === null && server.adminKey !== null ? `\n  Admin key  ${server.adminKey}  (shown once)` : ''}
  Models     ${server.models.join(', ')}${server.models.length > 1 ? '' : ' (no language model; docs/guides/own-model.md connects one)'}
  Reference  ${server.url}/docs${config.guideDir === null ? '' : `\n  Guide      ${server.url}/docs/guide/${config.buildsGuide ? '  (in a few minutes)' : ''}`}
  Ctrl-C     stops the server${isKept(config) ? '' : ' and deletes its data; npm start -- --data DIR keeps it'}

Try it:
  curl -s ${server.url}/v1/responses -H "Authorization: Bearer ${isGiven ? '$CELLBLOCK_API_KEY' : server.apiKey}" -H "Content-Type: application/json" \\
    -d '{"model":"demo","tools":[{"type":"code_interpreter","container":{"type":"auto"}}],"include":["code_interpreter_call.outputs"],"input":"\`\`\`python\\nprint(sum(range(10)))\\n\`\`\`"}'
`)
}

ignoreOutputErrors()
process.on('uncaughtException', fail)
main().catch(fail)
