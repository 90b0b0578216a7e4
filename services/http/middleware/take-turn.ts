import type { Context, MiddlewareHandler } from 'hono'
import type { ApiDeps } from '../deps.ts'
import { addressOwner, connectionOf } from '../exchange.ts'
import { ClientLeftError } from '../read-body.ts'
import type { ApiHono } from './wide-event.ts'

const FIRST_ERROR = 400

type Arrivals = Pick<ApiDeps, 'arrivals'>

/** Waits until a request of this owner may begin; without one, of the address of the client. Throws ClientLeftError when the client leaves before that. */
export async function turnOf({ env }: Pick<Context, 'env'>, { arrivals }: Arrivals, owner?: string): Promise<void> {
  const connection = connectionOf(env)
  await arrivals.enter(owner ?? addressOwner(connection), connection.outgoing)
  // Nothing has begun yet, so nothing is left half done.
  if (connection.outgoing?.destroyed === true) throw new ClientLeftError()
}

/** For what clients without a key can request. */
export const takeTurn =
  (deps: Arrivals): MiddlewareHandler =>
  async (context, next) => {
    await turnOf(context, deps)
    await next()
  }

/** A refusal of a client without a key waits for its turn, so that the next one of this client comes later. It costs as much as most requests before their turn. */
export const refuseInTurn =
  (deps: Arrivals): MiddlewareHandler<ApiHono> =>
  async (context, next) => {
    await next()
    if (context.res.status >= FIRST_ERROR && context.get('caller') === undefined) await turnOf(context, deps)
  }
