import { ERRORS, type ErrorCode } from './errors.ts'

interface ErrorHelp {
  readonly means: string
  readonly fix: string
}

const MISSING_FIX =
  'Check the id. Objects of another tenant or of another end user are answered in the same way, so check the key too. Deleted and expired objects are gone.'
const missing = (object: string): ErrorHelp => ({ means: `There is no such ${object}, or the key may not see it.`, fix: MISSING_FIX })
const dailyBudget = (what: string): ErrorHelp => ({
  means: `The tenant has used its daily budget of ${what}.`,
  fix: 'Wait for the next UTC day, or ask the operator for a larger budget (`POST /v1/admin/tenants/{tenant_id}`).',
})

/** What each error means and what to do, for people: docs/errors.md and `/docs/errors/{code}` show it. */
export const ERROR_HELP: Readonly<Record<ErrorCode, ErrorHelp>> = {
  invalid_json: {
    means: 'The body is not JSON, or it has too many values, too many keys, too many levels or the key `__proto__`.',
    fix: 'Send valid JSON in UTF-8 within the limits of documents. The message names the first error or the limit.',
  },
  invalid_request: {
    means: 'A field is missing, unknown or has a wrong value.',
    fix: 'Read `error.param`, and compare the request with the API reference at `/docs`.',
  },
  invalid_file_name: {
    means: 'A file name is empty, too long, or leads out of `/mnt/data`.',
    fix: 'Send a relative path without `..`, with at most 255 bytes per segment.',
  },
  invalid_notebook: { means: 'The document is no notebook of nbformat 4.', fix: 'Open and save it with Jupyter, then send it again.' },
  limit_exceeded: {
    means: 'A value of the request is above a limit of the tenant.',
    fix: 'Read the limits at `GET /v1/limits`. Ask for less, or ask the operator to raise the limit.',
  },
  previous_response_not_found: {
    means: 'The response that the request continues is gone or was not stored.',
    fix: 'Send the history as `input`, or use a conversation. Responses with `store: false` cannot be continued.',
  },
  unsupported_value: {
    means: 'The value is valid at OpenAI, but Cellblock does not support it.',
    fix: 'Leave the field out. docs/openai-wire.md lists what is supported.',
  },
  network_not_allowed: {
    means: 'The policy of a container names a host that the operator does not allow to the tenant.',
    fix: 'Leave the host out, or ask the operator to add it to the ceiling of the tenant (docs/network.md).',
  },
  webhook_unreachable: {
    means: 'The webhook endpoint gave no answer.',
    fix: 'Check that its address is public and answers 2xx, then try again.',
  },
  invalid_api_key: {
    means: 'The API key is missing, wrong, expired or revoked.',
    fix: 'Send `Authorization: Bearer ck_…`. `npm start` prints a key; an operator creates others with `npm run cli -- keys create`.',
  },
  insufficient_scope: {
    means: 'The key is valid, but its scopes do not include this route.',
    fix: 'Use a key with the scope that the message names.',
  },
  origin_not_allowed: {
    means: 'A web page of another origin sent the request.',
    fix: 'Add the origin to `CORS_ORIGINS`, or send the request from your server.',
  },
  not_found: { means: 'There is nothing at this address.', fix: 'Compare the path with the API reference at `/docs`.' },
  container_not_found: missing('container'),
  snapshot_not_found: missing('snapshot'),
  execution_not_found: missing('execution'),
  command_not_found: missing('command'),
  output_not_found: missing('output'),
  response_not_found: missing('response'),
  file_not_found: missing('file'),
  skill_not_found: missing('skill'),
  upload_not_found: missing('upload'),
  conversation_not_found: missing('conversation'),
  item_not_found: missing('item'),
  link_not_found: missing('link'),
  share_not_found: missing('link to a conversation'),
  webhook_endpoint_not_found: missing('webhook endpoint'),
  secret_not_found: missing('secret'),
  tenant_not_found: missing('tenant'),
  plan_not_found: missing('plan'),
  key_not_found: missing('key'),
  model_not_found: { means: 'The server offers no model of this name.', fix: 'Read the names at `GET /v1/models`.' },
  method_not_allowed: { means: 'The address exists, but not with this method.', fix: 'The header `Allow` names the methods.' },
  request_timeout: {
    means: 'The body of the request arrived too slowly or not at all, so the server stopped waiting.',
    fix: 'Send the request again over a faster connection. Large files go to an upload URL.',
  },
  conflict: {
    means: 'The object is in a state that does not allow this call.',
    fix: 'Read the object again. The message says which state it is in.',
  },
  upload_incomplete: { means: 'Bytes of the upload are missing.', fix: 'Send the missing parts, then complete the upload again.' },
  unknown_host: {
    means: 'The request names a host that the server does not serve.',
    fix: 'Use a configured host name, or add it to the configuration (docs/configuration.md).',
  },
  idempotency_key_reused: {
    means: 'The same `Idempotency-Key` came with another request before.',
    fix: 'Use a new key for a new request, and the same key only for an exact repetition.',
  },
  upgrade_required: {
    means: 'The address takes a WebSocket handshake, and the request was none, or the deployment offers no WebSocket.',
    fix: 'Send `POST /v1/responses` with `"stream": true`. The local server accepts WebSockets; a deployment in AWS does not.',
  },
  request_too_large: {
    means: 'The body is larger than this route takes.',
    fix: 'Read the sizes at `GET /v1/limits`. Large files go to an upload URL.',
  },
  unsupported_media_type: {
    means: 'The `Content-Type` does not suit the route.',
    fix: 'Send JSON, or multipart where the reference says so.',
  },
  rate_limit_exceeded: { means: 'The tenant sent too many requests.', fix: 'Wait as long as `Retry-After` says.' },
  sandbox_seconds_exhausted: dailyBudget('sandbox seconds'),
  dollars_exhausted: dailyBudget('US dollars'),
  model_tokens_exhausted: dailyBudget('model tokens'),
  storage_exhausted: {
    means: 'The tenant stores as many bytes, or has as many containers, as it may; `X-Limit-Name` says which.',
    fix: 'Delete files or containers that are not needed, or ask the operator for a higher limit.',
  },
  too_many_queued: {
    means: 'The queue of the container, of the conversation or of the tenant is full; `X-Limit-Name` says which.',
    fix: 'Wait for an execution to end, cancel one, or use another container.',
  },
  too_many_streams: { means: 'Too many event streams are open.', fix: 'Close streams that nothing reads, or poll with `?wait=`.' },
  concurrency_limit_reached: {
    means: 'The tenant uses as many containers at the same time as it may.',
    fix: 'Wait for a container to become idle, or delete one.',
  },
  too_many_results: {
    means: 'Answers that clients have not read yet fill the memory of the server, or the part of it that one tenant may use.',
    fix: 'Read the answers that are open. Then send the request again, with less embedded (`inline`).',
  },
  too_many_request_bytes: {
    means: 'Request bodies that are not answered yet fill the memory of the server, or the part of it that one tenant may use.',
    fix: 'Wait for other requests to end, then send this one again. Large files go to an upload URL.',
  },
  too_many_connections: {
    means:
      'The address opened more connections than it may before one of them sent a valid key, and the oldest one was closed. Or requests run on all connections that the account may have.',
    fix: 'Send the key with the first request of a connection, use connections again, and send fewer requests at the same time.',
  },
  not_offered: {
    means: 'This deployment lacks what the route needs.',
    fix: 'The message says which server has it. Ports of sandboxes need a server on one machine (docs/ports.md).',
  },
  model_error: {
    means: 'The endpoint of the model refused the call or broke off.',
    fix: 'The message contains the reason of the endpoint. Check its key, quota and model name.',
  },
  sandbox_unavailable: { means: 'No sandbox could be started.', fix: 'Try again. On one machine, `npm run doctor` finds the reason.' },
  not_ready: { means: 'The server is starting or stopping.', fix: 'Try again after a second.' },
  storage_full: { means: 'The disk of the server is full.', fix: 'The operator frees space or deletes containers.' },
  internal_error: {
    means: 'The server failed unexpectedly.',
    fix: 'Try again. If it persists, report the `request_id` of the answer.',
  },
}

/** The address of the page about an error, on the server itself. */
export const errorPagePath = (code: ErrorCode): string => `/docs/errors/${code}`

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code)
