import { spawn, type ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from './support/free-port.ts'
import { untilAnswers } from './support/until-answers.ts'
import { startAwsStorage, type AwsStorage } from '../emulators/start-aws-storage.ts'
import { newId } from '../../services/model/ids.ts'
import { apiKeyRow, newApiKey } from '../../services/model/tenants/api-keys.ts'

const SERVER = join(import.meta.dirname, '../../services/entries/aws/api/upload-server.ts')
const MIB = 1024 ** 2
/** Four fifths of the memory of a task (`infra/constructs/upload-service.ts`). Measured: 1,340 MiB. */
const MAX_PEAK_MIB = 0.8 * 2_048

let storage: AwsStorage
let server: ChildProcess
let url: string
beforeAll(async () => {
  storage = await startAwsStorage()
  const port = await freePort()
  const { tableName, bucket, queueUrls } = storage.resources
  server = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', SERVER], {
    env: {
      ...storage.emulators.env,
      STAGE: 'test',
      TABLE_NAME: tableName,
      BUCKET_NAME: bucket,
      TURNS_QUEUE_URL: queueUrls.turns,
      EXECUTIONS_QUEUE_URL: queueUrls.executions,
      PLACEMENTS_QUEUE_URL: queueUrls.placements,
      INGRESS: 'load_balancer',
      PORT: String(port),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  url = `http://127.0.0.1:${port}`
  await untilAnswers(`${url}/healthz`)
}, 60_000)
afterAll(async () => {
  server?.kill('SIGKILL')
  await storage?.stop()
})

it('four of the largest bodies at once fit into the memory of the task of the upload service', { timeout: 180_000 }, async () => {
  // One character that is not Latin makes V8 hold the whole text with two bytes a character.
  const file = Buffer.alloc(52 * MIB, 'cellblock ').toString('base64')
  const content = [{ type: 'input_file', filename: '世.bin', file_data: `data:application/octet-stream;base64,${file}` }]
  const body = JSON.stringify({ model: 'demo', background: true, input: [{ role: 'user', content }] })
  const keys = [1, 2, 3, 4].map(() => newApiKey())
  for (const key of keys) await storage.table.tenants.putKey(apiKeyRow(key, { tenant: newId('tenant') }, Date.now()))
  const answers = await Promise.all(
    keys.map(async (key) => {
      const answer = await fetch(`${url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body,
      })
      await answer.arrayBuffer()
      return answer.status
    }),
  )
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8')
  const peakMiB = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024
  expect(answers).toEqual([200, 200, 200, 200])
  expect(peakMiB).toBeGreaterThan(4 * 72)
  expect(peakMiB).toBeLessThan(MAX_PEAK_MIB)
})
