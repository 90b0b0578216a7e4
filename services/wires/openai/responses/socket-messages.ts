import * as z from 'zod'
import { openObject } from '../../../model/bounded-schemas.ts'
import { lazySchema } from '../../../model/lazy-schema.ts'
import { errorEnvelope } from '../../../http/error-response.ts'
import { parseJson } from '../../../http/parse-json.ts'
import { validate } from '../../../http/validate.ts'
import { ERRORS, ServiceError } from '../../../model/errors.ts'

export type Wire = Readonly<Record<string, unknown>>

export const ClientMessage = lazySchema(() =>
  openObject({
    type: z.enum(['response.create', 'response.steer'], 'send {"type": "response.create", …}'),
    stream_id: z.string().min(1).max(128).nullish(),
  }),
)

/** A message of the client. Throws ServiceError. */
export function readMessage(bytes: Uint8Array): { readonly body: Wire; readonly streamId: string | null } {
  const { stream_id: streamId, ...body } = validate(ClientMessage(), parseJson(bytes), 'body')
  return { body, streamId: streamId ?? null }
}

/** The event of a refusal; `error` as in the envelope of an answer. */
export const errorEvent = (status: number, error: Wire, streamId: string | null): string =>
  JSON.stringify({ type: 'error', status, error, ...(streamId === null ? {} : { stream_id: streamId }) })

/** The event of an error of the connection itself. An unexpected error shows nothing of its cause. */
export function refusalEvent(error: unknown, streamId: string | null): string {
  const known = error instanceof ServiceError ? error : new ServiceError('internal_error', 'Internal error. Send the message again.')
  const { error: body } = errorEnvelope(known, '') as { readonly error: Wire }
  return errorEvent(ERRORS[known.code].status, body, streamId)
}

/** OpenAI's error for a connection that has reached its longest time. */
export const EXPIRED: Wire = {
  type: 'invalid_request_error',
  code: 'websocket_connection_limit_reached',
  message: 'This WebSocket connection has reached its longest time, 60 minutes. Open a new one to continue.',
  param: null,
}

/** The input of a message up to this length is returned, bytes. A client has its longer input. */
const MAX_RETURNED = 4_096

/** Input cannot be added to a response that runs. Short input is returned, so that the client can send it as a turn. */
export const steerRefusal = ({ input, previous_response_id: previous }: Wire, { byteLength }: Uint8Array): string =>
  JSON.stringify({
    type: 'response.steer.failed',
    sequence_number: 0,
    error: {
      type: 'invalid_request_error',
      code: 'steering_not_supported',
      message:
        'Responses cannot be steered here. Wait for the response to end, and send the input as response.create with previous_response_id.',
    },
    steer: {
      input: byteLength > MAX_RETURNED ? [] : (input ?? []),
      previous_response_id: typeof previous === 'string' && previous.length <= MAX_RETURNED ? previous : '',
    },
  })
