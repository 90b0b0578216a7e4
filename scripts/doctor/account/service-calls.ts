/** Address of a deployed service, and the API key of one of its tenants. */
export interface Api {
  readonly url: string
  readonly key: string
}

/** A container that exists as long as the checks use it. */
export interface DoctorContainer {
  readonly api: Api
  readonly id: string
  /** `/v1/containers/{id}` */
  readonly path: string
}

const TIMEOUT_MS = 120_000

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Calls the service and returns its JSON. Throws an Error with the service's own message when it refuses. */
export async function call(
  { url, key }: Api,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body?: unknown },
): Promise<Record<string, unknown>> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const json = (await answer.json()) as Record<string, unknown>
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(json['error'])}`)
  return json
}

/** Creates a container, passes it on, and deletes it. Throws when the service does not answer. */
export async function withContainer<T>(api: Api, use: (container: DoctorContainer) => Promise<T>): Promise<T> {
  const id = String((await call(api, { method: 'POST', path: '/v1/containers', body: { name: 'doctor' } }))['id'])
  const path = `/v1/containers/${id}`
  try {
    return await use({ api, id, path })
  } finally {
    await call(api, { method: 'DELETE', path }).catch(() => undefined)
  }
}
