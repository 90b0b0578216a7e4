import { ApiConfig } from '../../http/config.ts'
import type { ApiPorts } from '../../http/deps.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import { createApp } from './app.ts'

/** A user who may open the storage or the control socket of a server may administer every tenant. */
const ADMINISTRATOR: Caller = { tenant: 'operator', subject: null, keyId: 'implicit_administrator', scopes: ['admin'] }

type StoragePorts = Pick<ApiPorts, 'table' | 'queue' | 'objects' | 'signals' | 'clock' | 'telemetry' | 'images' | 'prices'>

/** The routes of the API that need the scope `admin`, for a command line that sends no key. Audit entries are stored before the answer. */
export function createAdministration(ports: StoragePorts): (request: Request) => Promise<Response> {
  const app = createApp({
    ...ports,
    models: { list: () => [], has: () => false },
    toolTypes: [],
    readiness: async () => ({ ok: true, parts: {} }),
    config: ApiConfig.parse({ auditFlushMs: 0 }),
    implicitCaller: ADMINISTRATOR,
  })
  return async (request) => app.fetch(request)
}
