import { z } from 'zod'
import { LIMITS } from '../../core/limits.ts'
import { systemClock, type Clock } from '../../core/ports/clock.ts'
import { LinkError, type LinkRequest, type LinkResponse, type SandboxLink } from '../../core/ports/sandbox-link.ts'
import { SupervisorError, type ExecuteRequest, type Supervisor } from '../../core/ports/supervisor.ts'
import type { SandboxAddress, SandboxSession } from '../../core/sandboxes/sandbox.ts'
import { discard, isSuccess, readHealth, readJson, toRefusal, type Identity } from './answers.ts'
import { readEvents } from './event-stream.ts'
import { fileSchema, toFiles } from './events.ts'
import { fileTarget } from './file-target.ts'
import { createIdentityCheck } from './identity.ts'
import { createSigner, SIGNATURE_HEADER } from './signature.ts'

/** For requests that are answered at once, milliseconds. */
const SHORT_MS = 10_000
/** A list hashes what changed, so it may take as long as reading the whole disk, milliseconds. */
const LIST_MS = 120_000
const MAX_LIST_BYTES = 64 * 1024 * 1024

const JSON_BODY = { 'content-type': 'application/json' }
const BYTES_BODY = { 'content-type': 'application/octet-stream' }

/** Speaks `runtime-image/PROTOCOL.md` over any link. Refusals are SupervisorError, failed connections LinkError. */
export function createSupervisorClient(options: { readonly link: SandboxLink; readonly clock?: Clock }): Supervisor {
  const { link, clock = systemClock } = options
  const sign = createSigner(clock)

  const askHealth = async (address: SandboxAddress, waitMs: number, signal: AbortSignal): Promise<Identity> => {
    const answer = await link.request(
      address,
      { method: 'GET', target: waitMs > 0 ? `/health?wait=${Math.min(waitMs, 30_000)}` : '/health', headers: {} },
      signal,
    )
    if (!isSuccess(answer)) throw await toRefusal(answer, 'a health check')
    return readHealth(answer.body)
  }
  const identity = createIdentityCheck((address, signal) => askHealth(address, 0, signal), clock)

  /** One signed exchange with the sandbox that the session means and no other. */
  const send = async (
    session: SandboxSession,
    method: LinkRequest['method'],
    target: string,
    signal: AbortSignal,
    body?: Pick<LinkRequest, 'headers' | 'body'>,
  ): Promise<LinkResponse> => {
    try {
      await identity.prove(session, signal)
      const answer = await link.request(
        session.address,
        {
          method,
          target,
          headers: { ...body?.headers, [SIGNATURE_HEADER]: sign(session, method, target) },
          ...(body?.body && { body: body.body }),
        },
        signal,
      )
      if (isSuccess(answer)) identity.renew(session)
      else if (answer.status === 401) identity.forget(session)
      return answer
    } catch (error) {
      if (error instanceof LinkError) identity.forget(session)
      throw error
    }
  }

  const demand = async (answer: LinkResponse, what: string): Promise<LinkResponse> => {
    if (!isSuccess(answer)) throw await toRefusal(answer, what)
    return answer
  }

  return {
    async health(address, waitMs, signal) {
      const seen = await askHealth(address, waitMs, signal)
      identity.note(address, seen)
      return seen.health
    },

    async execute(session, executionId, request, after, signal) {
      const answer = await send(session, 'PUT', `/executions/${encodeURIComponent(executionId)}?after=${after}`, signal, {
        headers: JSON_BODY,
        body: executeBody(request),
      })
      return readEvents((await demand(answer, `execution ${executionId}`)).body, after)
    },

    async follow(session, executionId, after, signal) {
      const answer = await send(session, 'GET', `/executions/${encodeURIComponent(executionId)}/events?after=${after}`, signal)
      if (answer.status === 404) return discard(answer.body).then(() => null)
      return readEvents((await demand(answer, `the events of ${executionId}`)).body, after)
    },

    async interrupt(session, executionId, killAfterMs) {
      const body = Buffer.from(JSON.stringify({ kill_after_ms: killAfterMs }))
      const answer = await send(
        session,
        'POST',
        `/executions/${encodeURIComponent(executionId)}/interrupt`,
        AbortSignal.timeout(SHORT_MS),
        { headers: JSON_BODY, body },
      )
      await discard((await demand(answer, `the interrupt of ${executionId}`)).body)
    },

    async listFiles(session) {
      const answer = await demand(await send(session, 'GET', '/files', AbortSignal.timeout(LIST_MS)), 'the list of files')
      return toFiles(await readJson(z.unknown(), answer.body, MAX_LIST_BYTES))
    },

    async getFile(session, path, signal) {
      const answer = await send(session, 'GET', fileTarget(path), signal)
      if (answer.status === 404) return discard(answer.body).then(() => null)
      await demand(answer, 'a file')
      const length = answer.headers['content-length'] ?? ''
      if (!/^\d{1,15}$/.test(length)) throw new SupervisorError('protocol', 'The sandbox sent a file without its length.')
      return { bytes: Number(length), body: answer.body }
    },

    async putFile(session, path, bytes, body, signal) {
      const answer = await send(session, 'PUT', fileTarget(path), signal, {
        headers: { ...BYTES_BODY, 'content-length': String(bytes) },
        body,
      })
      const stored = await readJson(fileSchema, (await demand(answer, 'a file')).body)
      if (stored.bytes !== bytes) throw new SupervisorError('protocol', `The sandbox stored ${stored.bytes} of ${bytes} bytes.`)
      return { sha256: stored.sha256 }
    },

    async deleteFile(session, path) {
      const answer = await send(session, 'DELETE', fileTarget(path), AbortSignal.timeout(SHORT_MS))
      await discard((await demand(answer, 'the removal of a file')).body)
    },

    async snapshot(session, signal) {
      return (await demand(await send(session, 'POST', '/snapshot', signal), 'a snapshot')).body
    },

    async restore(session, { bytes, body }, signal) {
      // With its length the body goes without the frames of chunks, which cost a third of its way.
      const headers = { ...BYTES_BODY, 'content-length': String(bytes) }
      const answer = await send(session, 'POST', '/restore?unused=1', signal, { headers, body })
      return readJson(restoredSchema, (await demand(answer, 'a restore')).body, MAX_LIST_BYTES)
    },
  }
}

const restoredSchema = z.object({
  restored: z.number().int().nonnegative(),
  lost: z.array(
    z.object({ what: z.string().transform((name) => name.toWellFormed()), reason: z.string().transform((why) => why.toWellFormed()) }),
  ),
})

const executeBody = (request: ExecuteRequest): Buffer =>
  Buffer.from(
    JSON.stringify({
      v: 1,
      cells: request.cells,
      on_error: request.onError,
      store_history: request.storeHistory,
      timeout_ms: request.timeoutMs,
      cpu_ms: request.cpuMs,
      max_total_bytes: request.maxTotalBytes,
      max_displays: request.maxDisplays,
      ...(request.traceId === undefined ? {} : { trace_id: request.traceId }),
      max_output_bytes: LIMITS.maxStreamHeadBytes,
      tail_bytes: LIMITS.maxStreamTailBytes,
    }),
  )
