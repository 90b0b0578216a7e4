import type { Server } from 'node:http'
import { serve, type ServerType } from '@hono/node-server'
import { LIMITS } from '../../../model/limits.ts'
import { createAwsApp } from './aws-app.ts'
import { guardConnections } from '../../../http/connection-guard.ts'
import { HEALTH_PATH, uploadServerConfigFromEnv } from '../../../http/origin/config.ts'

/** Longer than the idle time of the load balancer (300 s), so that the server never closes a connection that is about to be used. */
const KEEP_ALIVE_MS = 310_000

const { PORT } = uploadServerConfigFromEnv()
const app = createAwsApp()

/** The load balancer's health check does not come through the distribution, so it has no origin secret. */
const fetch = (request: Request, env: object): Response | Promise<Response> =>
  new URL(request.url).pathname === HEALTH_PATH ? Response.json({ status: 'ok' }) : app.fetch(request, env)

/** The same API for the requests whose bodies are too large for a function. */
const server: ServerType = serve({
  fetch,
  port: PORT,
  // A client with a slow line may need longer than Node's five minutes for 512 MB. A body that makes no progress is refused by the API.
  serverOptions: { requestTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS },
})

// All connections come from the load balancer.
guardConnections(server as Server, {
  stallMs: LIMITS.stallSeconds * 1000,
  maxKeyless: null,
  maxOfTenant: LIMITS.maxTenantConnections,
  maxAbandoned: LIMITS.maxAbandonedRequests,
})

// ECS sends SIGTERM and waits; uploads that run are completed.
process.once('SIGTERM', () => server.close(() => process.exit(0)))
