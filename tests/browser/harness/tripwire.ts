import { createServer, type AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { startBrowser } from './browser.ts'
import { FOREIGN } from './xss-corpus.ts'

export interface Tripwire {
  readonly browser: Browser
  /** The first bytes of every connection that a page opened to the foreign host. */
  readonly connections: string[]
  close(): Promise<void>
}

/**
 * A browser in which the foreign host leads to one port, which records each connection, whatever its scheme. Other names do not exist; only
 * 127.0.0.1 is reached directly.
 */
export async function startTripwire(): Promise<Tripwire> {
  const connections: string[] = []
  const listener = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (bytes) => {
      connections.push(bytes.toString('latin1').slice(0, 300))
      socket.destroy()
    })
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as AddressInfo
  const browser = await startBrowser([
    `--host-resolver-rules=MAP ${FOREIGN} 127.0.0.1:${port}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
    '--no-proxy-server',
  ])
  return {
    browser,
    connections,
    close: async () => {
      await browser.close()
      listener.close()
    },
  }
}

/** Counts the scripts of payloads that run, in the page and in every frame. Call it before the first document loads. */
export async function countHits(page: Page): Promise<() => number> {
  let hits = 0
  page.on('console', (message) => {
    if (message.text() === 'PAYLOAD RAN') hits += 1
  })
  page.on('dialog', (dialog) => {
    hits += 1
    void dialog.dismiss()
  })
  await page.addInitScript('window.__hit = () => console.log("PAYLOAD RAN")')
  return () => hits
}
