import { signedService, type SignedServiceOptions } from './signed-request.ts'

/** Calls one action of Route 53 Resolver. Throws an Error named after the fault. */
export type ResolverApi = (action: string, input: object) => Promise<Record<string, unknown>>

/** AWS writes the message's name in both ways. */
interface Fault {
  readonly __type?: string
  readonly message?: string
  readonly Message?: string
}

export function createResolverApi(options: SignedServiceOptions): ResolverApi {
  const post = signedService('route53resolver', options)
  return async (action, input) => {
    const answer = await post(JSON.stringify(input), {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `Route53Resolver.${action}`,
    })
    const said = (await answer.json().catch(() => ({}))) as Fault & Record<string, unknown>
    if (answer.ok) return said
    const error = new Error(said.message ?? said.Message ?? `status ${answer.status}`)
    error.name = (said['__type'] ?? 'Error').replace(/^.*#/, '')
    throw error
  }
}
