import type { Context, MiddlewareHandler } from 'hono'
import type { ApiDeps } from '../deps.ts'
import { addressOwner, connectionOf } from '../exchange.ts'
import { ClientLeftError } from '../read-body.ts'

type Arrivals = Pick<ApiDeps, 'arrivals'>

/** Waits for the turn of the client's address: for what clients without a key request. Throws ClientLeftError when the client leaves meanwhile. */
export async function turnOf({ env }: Pick<Context, 'env'>, { arrivals }: Arrivals): Promise<void> {
  const connection = connectionOf(env)
  await arrivals.enter(addressOwner(connection), connection.outgoing)
  if (connection.outgoing?.destroyed === true) throw new ClientLeftError()
}

export const takeTurn =
  (deps: Arrivals): MiddlewareHandler =>
  async (context, next) => {
    await turnOf(context, deps)
    await next()
  }
