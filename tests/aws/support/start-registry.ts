import { once } from 'node:events'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'

/**
 * The emulated ECR with the answer of AWS to a question for an image that does not exist. The emulator answers with an empty list, which the CDK takes
 * for an image that needs no push.
 */
export async function startRegistry(endpoint: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer(
    (asked, answer) =>
      void (async () => {
        const target = String(asked.headers['x-amz-target'] ?? '')
        const headers = {
          'content-type': 'application/x-amz-json-1.1',
          authorization: asked.headers.authorization ?? '',
          'x-amz-target': target,
        }
        const got = await fetch(endpoint, { method: 'POST', headers, body: await buffer(asked) })
        const text = await got.text()
        const isMissing =
          target.endsWith('.DescribeImages') && got.ok && (JSON.parse(text) as { imageDetails?: object[] }).imageDetails?.length === 0
        const missing = { __type: 'ImageNotFoundException', message: 'The image does not exist.' }
        answer
          .writeHead(isMissing ? 400 : got.status, { 'content-type': 'application/x-amz-json-1.1' })
          .end(isMissing ? JSON.stringify(missing) : text)
      })().catch(() => answer.destroy()),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
