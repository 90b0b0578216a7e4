// Prints the milliseconds that Node needs to load the module at the given path: the local part of a handler's cold start.
import { pathToFileURL } from 'node:url'

// Lambda's runtime provides this.
Object.assign(globalThis, { awslambda: { streamifyResponse: (handler: unknown) => handler } })
const startedAt = performance.now()
await import(pathToFileURL(process.argv[2] ?? '').href)
console.log(performance.now() - startedAt)
process.exit(0)
