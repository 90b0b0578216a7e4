// `npm run test:fuzz`: schemathesis sends generated requests to every route and compares each answer with the OpenAPI document.
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../../scripts/read-options.ts'
import { newId } from '../../services/model/ids.ts'
import { SCOPES } from '../../services/model/tenants/tenant.ts'
import { startWorkedApi } from '../support/start-worked-api.ts'
import { fileOperationOutput } from './file-operations.ts'
import { endExecutions } from './end-executions.ts'

const ROOT = join(import.meta.dirname, '../..')
const PROGRAM = join(ROOT, '.cellblock', 'schemathesis-python', 'bin', 'schemathesis')
/** Each finds a defect of the service or of its document; others judge generated data by rules that a schema cannot state. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'unsupported_method',
  'allow_header_conformance',
  'ignored_auth',
]
/** They end the account that the fuzzer uses. */
const EXCLUDED = ['revokeKey', 'deleteTenant']

const values = readOptions('test:fuzz', {
  examples: { type: 'string', default: '450' },
  phases: { type: 'string', default: 'examples,coverage,fuzzing,stateful' },
  seed: { type: 'string', default: '1' },
  only: { type: 'string' },
})

const worked = await startWorkedApi()
const { api } = worked
worked.runs((_, { source }) => ({ result: { stdout: fileOperationOutput(source) } }))
const stopExecutions = endExecutions(api)
const reports = await mkdtemp(join(tmpdir(), 'cellblock-fuzz-'))
let code = 1
try {
  const tenant = newId('tenant')
  const policy = { limits: { requestsPerSecond: 100_000, openStreams: 100_000 } }
  await api.table.tenants.create({ v: 1, id: tenant, name: 'fuzz', createdAt: Date.now(), policy })
  const { key } = await api.newKey({ tenant, scopes: SCOPES })
  const statuses = new Map<number, number>()
  const rssBefore = process.memoryUsage.rss()
  code = await run(key)
  for (const event of api.events)
    if (event.event === 'http.request') statuses.set(Number(event['status']), (statuses.get(Number(event['status'])) ?? 0) + 1)
  const slowest = Math.max(0, ...api.events.filter(({ event }) => event === 'http.request').map((event) => Number(event['duration_ms'])))
  const requests = [...statuses.values()].reduce((sum, count) => sum + count, 0)
  const list = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  console.log(`${requests} requests; ${list.join(', ')}`)
  console.log(`slowest answer ${slowest} ms; memory ${mebibytes(rssBefore)} MiB before, ${mebibytes(process.memoryUsage.rss())} MiB after`)
  console.log(await summary(join(reports, 'junit.xml')))
} finally {
  await stopExecutions()
  await worked.stop()
  await rm(reports, { recursive: true, force: true })
}
process.exitCode = code

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2)
}

/** Resolves with the exit code. */
function run(key: string): Promise<number> {
  const args = [
    'run',
    `${api.url}/openapi.json`,
    ...['--header', `Authorization: Bearer ${key}`, '--checks', CHECKS.join(','), '--phases', values.phases, '--seed', values.seed],
    ...['--max-examples', values.examples, '--request-timeout', '40', '--suppress-health-check', 'all', '--continue-on-failure'],
    ...['--report', 'junit', '--report-junit-path', join(reports, 'junit.xml'), '--no-color'],
    ...(values.only === undefined ? EXCLUDED.flatMap((id) => ['--exclude-operation-id', id]) : ['--include-operation-id', values.only]),
  ]
  return new Promise((resolve, reject) => {
    const child = spawn(PROGRAM, args, { cwd: reports, stdio: ['ignore', 'inherit', 'inherit'] })
    child.once('error', reject)
    child.once('exit', (exitCode) => resolve(exitCode ?? 1))
  })
}

async function summary(path: string): Promise<string> {
  const report = await readFile(path, 'utf8').catch(() => '')
  const [, failures = '?'] = /<testsuites[^>]*failures="(\d+)"/.exec(report) ?? []
  return `operations with failures: ${failures}`
}
