import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleFunction } from '../../infra/bundle/bundle-function.ts'
import { bundleTools } from '../../infra/bundle/bundle-tools.ts'
import { readConfig } from '../../infra/config.ts'
import { toolTypesOf } from '../../infra/tool-types.ts'
import { loadTools } from '../../services/adapters/tools/load-tools.ts'
import { manifest, zipOf } from '../support/skill-files.ts'
import { context } from './synthesise.ts'

const LIMIT_BYTES = 1_500_000
const ENTRIES = [
  'services/entries/aws/api/lambda.ts',
  'services/entries/aws/chat/lambda.ts',
  'services/entries/aws/run/lambda.ts',
  'services/entries/aws/place/lambda.ts',
  'services/entries/aws/reconcile/lambda.ts',
]
const DEVELOPMENT_ONLY = ['dockerode', 'dynalite', 'fauxqs', 'aws-cdk-lib', 'esbuild', 'vitest', '@scalar/api-reference']

/** What Lambda and the templates set; the values are of the right shape and lead nowhere. */
const ENVIRONMENT = {
  AWS_REGION: 'eu-west-1',
  STAGE: 'test',
  TABLE_NAME: 'table',
  BUCKET_NAME: 'bucket',
  TURNS_QUEUE_URL: 'https://sqs.example.com/turns',
  EXECUTIONS_QUEUE_URL: 'https://sqs.example.com/executions',
  PLACEMENTS_QUEUE_URL: 'https://sqs.example.com/placements',
  SANDBOX_IMAGES: '{"slim":"image:tag"}',
  SANDBOX_ARCHITECTURE: 'X86_64',
  CONCURRENT_STEPS: '50',
  CLUSTER_ARN: 'arn:aws:ecs:eu-west-1:123456789012:cluster/test',
  SUBNET_IDS: 'subnet-1,subnet-2',
  SECURITY_GROUP_IDS: 'sg-1',
  TASK_DEFINITIONS: '{"slim":{"1g":"arn:aws:ecs:eu-west-1:123456789012:task-definition/test:1"}}',
  POOL_SIZES: '{"1g":0}',
  CELLBLOCK_MODELS: '[]',
  MODELS_SECRET_ARN: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:models',
  ORIGIN_SECRET_ARN: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:origin',
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-bundles-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe.each(ENTRIES)('%s', (entry) => {
  const output = () => join(folder, entry.replaceAll('/', '-'))
  let bytes = 0

  it('fits into 1.5 MB, with nothing that only development needs', async () => {
    const made = await bundleFunction(entry, output())
    const { packages } = made
    bytes = made.bytes
    expect(bytes).toBeLessThanOrEqual(LIMIT_BYTES)
    expect(packages.filter((name) => DEVELOPMENT_ONLY.includes(name))).toEqual([])
  })

  it('has only the parts of zod that it uses', async () => {
    const files = (await readdir(output())).filter((name) => name.endsWith('.mjs'))
    const texts = await Promise.all(files.map((name) => readFile(join(output(), name), 'utf8')))
    // An object `z` instead of `import * as z`, or `z.core`, keeps all: 110 KB.
    expect(texts.some((text) => text.includes('ZodCompileUnsupportedError'))).toBe(false)
  })

  it('starts in plain Node without installed packages, and reports the time', async () => {
    // The global is what Lambda's runtime gives to functions that stream.
    const load = `globalThis.awslambda = { streamifyResponse: (handler) => handler }
      const began = performance.now()
      const { handler } = await import(${JSON.stringify(join(output(), 'index.mjs'))}).catch((error) => ({ handler: String(error) }))
      const ms = Math.round(performance.now() - began)
      const loaded = process.moduleLoadList.includes('NativeModule internal/deps/undici/undici')
      console.log(JSON.stringify({ handler: typeof handler === 'function' ? 'function' : handler, loaded, ms }))
      process.exit(0)`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', load], { cwd: folder, env: ENVIRONMENT })
    const { ms, ...seen } = JSON.parse(stdout) as { readonly ms: number }
    // Node's own fetch would make a start a tenth longer.
    expect(seen).toEqual({ handler: 'function', loaded: false })
    console.log(`${entry}: ${(bytes / 1e6).toFixed(2)} MB, cold init ${ms} ms in Node ${process.versions.node} on this machine`)
  })
})

it('calls a model from inside a bundle', async () => {
  const model = createServer((_, response) => {
    response.end('data: {"choices":[{"delta":{"content":"Hello"}}]}\n\ndata: [DONE]\n\n')
  }).listen(0, '127.0.0.1')
  await once(model, 'listening')
  const output = join(folder, 'model')
  await bundleFunction('services/adapters/models/openai-chat.ts', output)
  const { port } = model.address() as AddressInfo
  const ask = `
    const { createOpenAiChat } = await import(${JSON.stringify(join(output, 'index.mjs'))})
    const { stream } = createOpenAiChat({ baseUrl: 'http://127.0.0.1:${port}/v1', apiKey: null })
    const request = { model: 'm', messages: [], tools: [], toolChoice: 'none' }
    for await (const delta of stream(request, AbortSignal.timeout(10_000))) console.log(JSON.stringify(delta))
    process.exit(0)`
  const asking = promisify(execFile)(process.execPath, ['--input-type=module', '-e', ask], { cwd: folder })
  const { stdout } = await asking.finally(() => model.close())
  expect(JSON.parse(stdout)).toEqual({ type: 'text', text: 'Hello' })
})

it('reads forms, archives and skills from inside a bundle, whose parsers are loaded when they are needed', async () => {
  const output = join(folder, 'forms')
  await bundleFunction('tests/support/bundled-forms-child.ts', output)
  const archive = zipOf({ 'csv_report/SKILL.md': manifest() }).toString('base64')
  const { stdout } = await promisify(execFile)(process.execPath, [join(output, 'index.mjs'), archive], { cwd: folder })
  expect(JSON.parse(stdout)).toEqual({ skill: 'csv-report', file: { filename: 'notes.txt', bytes: 5 }, stored: 'hello' })
})

it('reaches a supervisor from inside a bundle, where only parts of undici are', async () => {
  const said = { v: 1, sandbox_id: 'sbx_1', state: 'ready', boot_nonce: 'boot', refused: [] }
  const sandbox = createServer((_, response) => response.end(JSON.stringify(said))).listen(0, '127.0.0.1')
  await once(sandbox, 'listening')
  const output = join(folder, 'link')
  await bundleFunction('tests/support/bundled-link-child.ts', output)
  const { port } = sandbox.address() as AddressInfo
  const { stdout } = await promisify(execFile)(process.execPath, [join(output, 'index.mjs'), String(port)]).finally(() => sandbox.close())
  expect(JSON.parse(stdout)).toMatchObject({ sandboxId: 'sbx_1', state: 'ready' })
})

it('calls the storage from inside a bundle, which describes only the calls that are made', async () => {
  const bodies: string[] = []
  const storage = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => void bodies.push(chunk.toString()))
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://storage')
      const answer = answerOf(String(request.headers['x-amz-target']), pathname, searchParams)
      response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body)
    })
  }).listen(0, '127.0.0.1')
  await once(storage, 'listening')
  const output = join(folder, 'storage')
  const { bytes } = await bundleFunction('tests/support/bundled-storage-child.ts', output)
  const { port } = storage.address() as AddressInfo
  const running = promisify(execFile)(process.execPath, [join(output, 'index.mjs'), `http://127.0.0.1:${port}`])
  const { stdout } = await running.finally(() => storage.close())
  expect(JSON.parse(stdout)).toEqual({ missing: null, deleted: 1, row: { pk: 'a', sk: 'b', n: 1 }, isPut: false })
  expect(bodies.join('\n')).toContain('<Key>folder/one</Key>')
  expect(bytes).toBeLessThan(400_000)
})

/** One object in a folder, one row, and a condition that fails, in the words of the services. */
function answerOf(
  target: string,
  path: string,
  search: URLSearchParams,
): { readonly status: number; readonly type: string; readonly body: string } {
  const json = (status: number, value: unknown) => ({ status, type: 'application/x-amz-json-1.0', body: JSON.stringify(value) })
  const xml = (status: number, body: string) => ({ status, type: 'application/xml', body: `<?xml version="1.0" encoding="UTF-8"?>${body}` })
  if (target.endsWith('GetItem')) return json(200, { Item: { pk: { S: 'a' }, sk: { S: 'b' }, n: { N: '1' } } })
  if (target.endsWith('PutItem'))
    return json(400, {
      __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
      message: 'The conditional request failed',
    })
  if (path.endsWith('/missing'))
    return xml(404, '<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>')
  if (search.has('delete')) return xml(200, '<DeleteResult></DeleteResult>')
  return xml(200, '<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>folder/one</Key></Contents></ListBucketResult>')
}

describe("an operator's tools", () => {
  const withTools = { ...(context.cellblock as object), tools: { webSearch: true, folder: 'examples/tools' } }

  it('are bundled, each with its imports in one file', async () => {
    await bundleTools('examples/tools', folder)
    const [tool] = await loadTools(join(folder, 'tools'))
    expect(tool).toMatchObject({ type: 'current_time', name: 'current_time' })
  })

  it('are passed to the API by their types', async () => {
    const types = await toolTypesOf(readConfig(withTools))
    expect(types).toEqual([expect.stringMatching(/^web_search\|.*\|web_search_preview/), 'current_time'])
  })

  it('are checked before anything is deployed', async () => {
    await expect(toolTypesOf({ tools: { webSearch: false, folder: 'docs/none' } })).rejects.toThrow('cannot be read')
  })
})
