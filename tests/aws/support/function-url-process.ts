// Serves the handler of a bundle as a function URL. Arguments: the path of the bundle, the port.
import { pathToFileURL } from 'node:url'
import type { StreamingHandler } from '../../../services/http/function-url/stream-handler.ts'
import { provideLambdaRuntime, startFunctionUrl } from '../../support/function-url.ts'

provideLambdaRuntime()
const [bundle = '', port = ''] = process.argv.slice(2)
const { handler } = (await import(pathToFileURL(bundle).href)) as { handler: StreamingHandler }
await startFunctionUrl(handler, { port: Number(port) })
