// Prints how many milliseconds Node needs to load the module at the path that it is given: a handler's cold start without the cloud around it.
import { pathToFileURL } from 'node:url'

// Lambda's runtime brings this along.
Object.assign(globalThis, { awslambda: { streamifyResponse: (handler: unknown) => handler } })
const startedAt = performance.now()
await import(pathToFileURL(process.argv[2] ?? '').href)
console.log(performance.now() - startedAt)
process.exit(0)
