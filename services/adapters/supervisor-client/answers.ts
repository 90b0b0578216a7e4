import * as z from 'zod'
import type { ByteStream } from '../../model/byte-stream.ts'
import type { LinkResponse } from '../../ports/sandbox-link.ts'
import { SupervisorError, type NamespaceUsage, type SandboxHealth, type SupervisorErrorCode } from '../../ports/supervisor.ts'
import { parseHostileJson } from './hostile-json.ts'
import { safeParse } from '../../model/safe-parse.ts'

const SMALL_ANSWER_BYTES = 256 * 1024

/** Reads a whole body. Throws SupervisorError `protocol` above `maxBytes`. */
export async function readAnswerBody(body: ByteStream, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let total = 0
  for await (const part of body) {
    total += part.length
    if (total > maxBytes) throw new SupervisorError('protocol', `The sandbox sent an answer longer than ${maxBytes} bytes.`)
    parts.push(part)
  }
  return parts.length === 1 && parts[0] ? Buffer.from(parts[0].buffer, parts[0].byteOffset, parts[0].byteLength) : Buffer.concat(parts)
}

/** The connection can be reused only after the body was read. */
export const discard = async (body: ByteStream): Promise<void> => void (await readAnswerBody(body, SMALL_ANSWER_BYTES))

export async function readAnswer<T>(schema: z.ZodType<T>, body: ByteStream, maxBytes = SMALL_ANSWER_BYTES): Promise<T> {
  const parsed = safeParse(schema, parseHostileJson(await readAnswerBody(body, maxBytes)))
  if (!parsed.success)
    throw new SupervisorError(
      'protocol',
      `The sandbox sent an answer that the protocol does not know: ${z.prettifyError(parsed.error).slice(0, 300)}`,
    )
  return parsed.data
}

const CODES = {
  unauthorized: 401,
  not_found: 404,
  bad_request: 400,
  conflict: 409,
  too_large: 413,
  disk_full: 507,
  unavailable: 503,
  internal: 500,
} as const satisfies Partial<Record<SupervisorErrorCode, number>>

const errorSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) })

/** The refusal that an answer other than 2xx means. The status determines it; the body only explains. */
export async function toRefusal(answer: LinkResponse, what: string): Promise<SupervisorError> {
  const code = Object.entries(CODES).find(([, status]) => status === answer.status)?.[0] as SupervisorErrorCode | undefined
  const why = await readAnswer(errorSchema, answer.body).then(
    ({ error }) => error.message.toWellFormed().slice(0, 500),
    () => 'no reason given',
  )
  if (!code) return new SupervisorError('protocol', `The sandbox answered ${what} with HTTP ${answer.status}: ${why}`)
  return new SupervisorError(code, `The sandbox refused ${what} (${code}): ${why}`)
}

export const isSuccess = (answer: LinkResponse): boolean => answer.status >= 200 && answer.status < 300

const healthSchema = z.object({
  v: z.number().int(),
  sandbox_id: z.string().max(200),
  state: z.enum(['starting', 'ready', 'refused']),
  boot_nonce: z.string().max(200),
  refused: z.array(z.string().max(500)).max(200),
})

export interface Identity {
  readonly health: SandboxHealth
  /** Changes with every start of the supervisor. */
  readonly bootNonce: string
}

export async function readHealth(body: ByteStream): Promise<Identity> {
  const seen = await readAnswer(healthSchema, body)
  return { health: { v: seen.v, sandboxId: seen.sandbox_id, state: seen.state, refused: seen.refused }, bootNonce: seen.boot_nonce }
}

const usageSchema = z.object({
  run_ms: z.number().nonnegative(),
  cpu_ms: z.number().nonnegative(),
  sandbox_cpu_ms: z.number().nonnegative().optional(),
})

/** What saving used, from its trailer; null without a readable one. */
export function readUsage(text: string | undefined): NamespaceUsage | null {
  if (text === undefined) return null
  const fields = safeParse(usageSchema, parseHostileJson(Buffer.from(text)))
  if (!fields.success) return null
  const { run_ms: runMs, cpu_ms: cpuMs, sandbox_cpu_ms: sandboxCpuMs } = fields.data
  return { runMs, cpuMs, sandboxCpuMs }
}

export const restoredSchema = z.object({
  restored: z.number().int().nonnegative(),
  lost: z.array(
    z.object({ what: z.string().transform((name) => name.toWellFormed()), reason: z.string().transform((why) => why.toWellFormed()) }),
  ),
  run_ms: z.number().nonnegative(),
  cpu_ms: z.number().nonnegative(),
})

export const portsSchema = z.object({ ports: z.array(z.number().int().min(1).max(65_535)).max(200) })
