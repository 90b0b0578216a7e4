import { APIConnectionError, APIError } from 'openai'
import { ModelError } from '../../ports/chat-model.ts'
import { AnswerTooLargeError } from './endpoint-fetch.ts'
import { readTooLong } from './quirks.ts'

/** Maximum length of the endpoint's text in a message to the user, characters. */
const MAX_DETAIL_CHARS = 300

/** The error as the turn handles it. `apiKey` never appears in its message, whatever the endpoint sends. */
export function modelErrorOf(cause: unknown, apiKey: string | null): ModelError {
  if (cause instanceof AnswerTooLargeError)
    return new ModelError('The answer of the model is too long.', { retryable: false, status: null, cause })
  if (!(cause instanceof APIError) || cause instanceof APIConnectionError) {
    const message = 'The connection to the model endpoint failed. Try again. If it persists, the operator has to check the base URL.'
    return new ModelError(message, { retryable: true, status: null, cause })
  }
  const status = typeof cause.status === 'number' ? cause.status : null
  const tooLong = readTooLong(status, typeof cause.code === 'string' ? cause.code : null, cause.message)
  if (tooLong !== null) {
    const message = 'The conversation is too long for the model, even after it was shortened. Start a new conversation, or send less.'
    return new ModelError(message, { retryable: false, status, tooLong, cause })
  }
  const retryable = status === null || status === 408 || status === 409 || status === 429 || status >= 500
  return new ModelError(messageOf(status, detailOf(cause, apiKey)), { retryable, status, cause })
}

function messageOf(status: number | null, detail: string): string {
  if (status === 401 || status === 403) return 'The model endpoint rejected its key. The operator has to check the key.'
  if (status === 404) return 'The model endpoint does not know this model. The operator has to check the name.'
  if (status === 429) return 'The model endpoint has too many requests. Wait a moment and try again.'
  if (status === null || status >= 500) return 'The model endpoint failed. Try again.'
  return `The model endpoint rejected the request with status ${status}: ${detail} Change the request, or ask the operator.`
}

/** The endpoint's own sentence, without keys. */
function detailOf({ message, status }: APIError, apiKey: string | null): string {
  const text = message
    .replace(new RegExp(`^${status} `), '')
    .replaceAll(apiKey ?? '\0', '[key]')
    .replace(/\b(?:sk|key|pk)-[\w*.-]{4,}/gi, '[key]')
    .replace(/\s+/g, ' ')
    .trim()
  const cut = text.length > MAX_DETAIL_CHARS ? `${text.slice(0, MAX_DETAIL_CHARS)}…` : text
  return /[.!?…]$/.test(cut) ? cut : `${cut}.`
}
