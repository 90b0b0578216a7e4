import { expect, it } from 'vitest'
import { hideLinks } from '../../../services/http/hide-links.ts'

const LINK = `https://cells.example.com:8787/d/${'aB3_-'.repeat(9).slice(0, 43)}`
const HIDDEN = `https://cells.example.com:8787/d/${'-'.repeat(43)}`
/** What a picture in base64 may contain by chance. */
const BASE64 = `iVBORw0KGgo/d/${'Qk1'.repeat(15)}/aa+`

async function shown(chunks: readonly string[], contentType = 'application/json'): Promise<string> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(Buffer.from(chunk))
      controller.close()
    },
  })
  return hideLinks(new Response(body, { headers: { 'content-type': contentType } })).text()
}

it('replaces the random part of each link and keeps every position', async () => {
  expect(await shown([`{"a":"${LINK}","b":"[x](${LINK}) é"}`])).toBe(`{"a":"${HIDDEN}","b":"[x](${HIDDEN}) é"}`)
})

it('finds a link that is divided at any place', async () => {
  const text = `data: {"delta":"${LINK}"}\n\n`
  for (let at = 0; at <= text.length; at++)
    expect(await shown([text.slice(0, at), text.slice(at)], 'text/event-stream')).toBe(`data: {"delta":"${HIDDEN}"}\n\n`)
})

it('leaves pictures and other text as they are', async () => {
  const text = `{"image/png":"${BASE64}","url":"https://example.com/d/short","path":"/d/${'x'.repeat(43)}"}`
  expect(await shown([text])).toBe(text)
})
