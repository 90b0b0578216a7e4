// Starts a server and a sandbox, prints where they are, and waits to be killed: tests/e2e/lifecycle.test.ts.
import { startServer } from './local-server.ts'

const server = await startServer()
await server.native.run(await server.native.createContainer(), 'print(1)')
process.stdout.write(`${JSON.stringify({ pid: server.pid, stage: server.stage })}\n`)
