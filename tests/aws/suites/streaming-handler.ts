import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleFunction } from '../../../infra/bundle/bundle-function.ts'
import { checkLongCall } from '../../../scripts/doctor/account/long-call-check.ts'
import { checkPublicSide } from '../../../scripts/doctor/account/public-checks.ts'
import { synthesise } from '../../infra/synthesise.ts'
import { hasLongCalls } from '../config.ts'
import type { DeploymentFixture } from '../support/deployment-fixture.ts'
import { freePort } from '../support/free-port.ts'
import { startTemplateEdge } from '../support/template-edge.ts'
import { untilAnswers } from '../support/until-answers.ts'

const SECONDS = 300
const FUNCTION_URL = join(import.meta.dirname, '../support/function-url-process.ts')

/**
 * The API's handler behind the distribution of the templates with its real time-outs. It runs beside the emulator, whose functions deliver an answer as
 * one text when it is complete, without its cookies.
 */
export function streamingHandlerSuite(fixture: () => DeploymentFixture): void {
  describe('the handler behind a distribution', () => {
    let folder: string
    let handler: ChildProcess
    let edge: Awaited<ReturnType<typeof startTemplateEdge>>

    beforeAll(async () => {
      const { account } = fixture()
      folder = await mkdtemp(join(tmpdir(), 'cellblock-long-calls-'))
      await bundleFunction('services/entries/aws/api/lambda.ts', folder)
      const port = await freePort()
      const environment = await account.functionVariables('api')
      handler = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', FUNCTION_URL, join(folder, 'index.mjs'), String(port)], {
        env: { ...account.environment, ...environment },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const functionUrl = `http://127.0.0.1:${port}`
      const secret = { 'x-cellblock-origin': await account.secret(environment['ORIGIN_SECRET_ARN'] ?? '') }
      await untilAnswers(`${functionUrl}/healthz`, secret)
      edge = await startTemplateEdge({
        templates: synthesise(),
        functionUrl: { url: functionUrl, headers: secret },
        uploads: { url: functionUrl, headers: secret },
        timeScale: 1,
      })
    }, 60_000)
    afterAll(async () => {
      await edge?.stop()
      handler?.kill()
      await rm(folder, { recursive: true, force: true })
    })

    const api = () => ({ url: edge.url, key: fixture().acme.apiKey })

    it('serves the page and keeps its session', { timeout: 60_000 }, async () => {
      const found = await checkPublicSide(api(), { uploadService: true })
      expect(found.filter(({ outcome }) => outcome === 'ok').map(({ check }) => check)).toEqual(expect.arrayContaining(['Page', 'Session']))
    })

    if (hasLongCalls)
      it('answers a plain response of five minutes whole', { timeout: 2 * SECONDS * 1000 }, async () => {
        const { session } = fixture()
        const container = { api: api(), id: session, path: `/v1/containers/${session}` }
        expect(await checkLongCall(container, { seconds: SECONDS })).toMatchObject({ outcome: 'ok' })
      })
  })
}
