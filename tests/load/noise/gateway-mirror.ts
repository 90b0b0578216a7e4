import { parentPort } from 'node:worker_threads'
import { internetAuthority, startMirror } from '../../support/mirror.ts'
import { HOSTILE_HOST } from './gateway-forms.ts'

// The host of the hostile tenant has a separate thread, so that its load does not delay the measurements.
const PART = Buffer.alloc(256 * 1024, 'a')
const { port } = await startMirror([HOSTILE_HOST], ({ url }, response) => {
  if (url === '/silent') return
  if (url !== '/large') return void response.end('answer')
  const send = (): void => {
    while (!response.destroyed) if (!response.write(PART)) return void response.once('drain', send)
  }
  send()
})
parentPort?.postMessage({ port, certificate: (await internetAuthority()).certificate }, [])
