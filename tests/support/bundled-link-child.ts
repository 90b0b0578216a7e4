// Bundled like the run worker, then started with a port. Prints the health reply of a sandbox at that port.
import { createSandboxLink } from '../../services/adapters/link/create-sandbox-link.ts'
import { createSupervisorClient } from '../../services/adapters/supervisor-client/supervisor-client.ts'

const address = { kind: 'tcp', host: '127.0.0.1', port: Number(process.argv[2]) } as const
const health = await createSupervisorClient({ link: createSandboxLink() }).health(address, 0, AbortSignal.timeout(10_000))
console.log(JSON.stringify(health))
process.exit(0)
