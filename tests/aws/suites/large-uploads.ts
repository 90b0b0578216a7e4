import { createHash } from 'node:crypto'
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleFunction } from '../../../infra/bundle/bundle-function.ts'
import { synthesise } from '../../infra/synthesise.ts'
import { freePort } from '../support/free-port.ts'
import { startTemplateEdge } from '../support/template-edge.ts'
import { untilAnswers } from '../support/until-answers.ts'
import type { DeploymentFixture } from '../support/deployment-fixture.ts'

const UPLOAD_BYTES = 200 * 1024 ** 2
/** The distribution waits 120 s for an origin, here 60 s: a busy machine stores 200 MB without a byte of the answer for longer than 20 s. */
const TIME_SCALE = 2

/** Bodies above Lambda's limit, sent by an SDK that knows nothing of it, through the distribution of the templates. */
export function largeUploadSuite(fixture: () => DeploymentFixture): void {
  describe('a request body above the limit of a function', () => {
    let folder: string
    let server: ChildProcess
    let edge: Awaited<ReturnType<typeof startTemplateEdge>>

    beforeAll(async () => {
      const { account } = fixture()
      folder = await mkdtemp(join(tmpdir(), 'cellblock-uploads-'))
      await bundleFunction('services/entries/aws/api/upload-server.ts', folder)
      const port = await freePort()
      const environment = await account.functionVariables('api')
      // As the task definition of the upload service: the variables of the API's function and a port.
      server = spawn(process.execPath, [join(folder, 'index.mjs')], {
        env: { ...account.environment, ...environment, UPLOAD_SERVICE: 'true', PORT: String(port) },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const url = `http://127.0.0.1:${port}`
      await untilAnswers(`${url}/healthz`)
      edge = await startTemplateEdge({
        templates: synthesise({ api: { uploadService: true } }),
        functionUrl: { url: account.url(), headers: {} },
        uploads: { url, headers: { 'x-cellblock-origin': await account.secret(environment['ORIGIN_SECRET_ARN'] ?? '') } },
        timeScale: TIME_SCALE,
      })
      expect((await fetch(`${url}/v1/models`)).status, 'without the secret of the distribution').toBe(404)
    }, 180_000)
    afterAll(async () => {
      await edge?.stop()
      server?.kill()
      await rm(folder, { recursive: true, force: true })
    })
    const client = () => new OpenAI({ baseURL: `${edge.url}/v1`, apiKey: fixture().acme.apiKey, maxRetries: 0 })

    it('is accepted from the openai client: a complete file of 200 MB', { timeout: 240_000 }, async () => {
      const bytes = Buffer.alloc(UPLOAD_BYTES, 'cellblock ')
      const made = await client().files.create({ file: new File([bytes], 'large.bin'), purpose: 'user_data' })
      expect(made).toMatchObject({ bytes: UPLOAD_BYTES, filename: 'large.bin' })
      const row = await fixture().account.table().userFiles.get(fixture().acme.id, made.id)
      expect(row?.sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
      await client().files.delete(made.id)
    })

    it('is refused in the error envelope above the limits of the API', { timeout: 60_000 }, async () => {
      const create = client().post('/containers', { body: { name: 'x'.repeat(12 * 1024 ** 2) } })
      await expect(create).rejects.toMatchObject({ status: 413, code: 'request_too_large' })
    })

    it('goes to the function if it is small', { timeout: 60_000 }, async () => {
      const made = await client().files.create({ file: new File(['small'], 'small.txt'), purpose: 'user_data' })
      expect(made.bytes).toBe(5)
    })
  })
}
