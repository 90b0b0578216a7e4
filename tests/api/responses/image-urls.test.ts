import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const message = (part: object) => ({ role: 'user', content: [{ type: 'input_text', text: 'x' }, part] })
const respond = (part: object) => api.post('/v1/responses', { model: 'demo', background: true, input: [message(part)] })

it.each([
  'file:///etc/passwd',
  'ftp://example.com/x.png',
  'http://169.254.169.254/latest/meta-data/',
  'http://[fd00:ec2::254]/latest/',
  'http://127.0.0.1:8787/v1/models',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://[::1]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://10.1.2.3/x.png',
  'http://172.20.0.1/',
  'http://192.168.0.1/',
  'http://100.64.0.1/',
  'http://0.0.0.0/',
  'http://localhost/x.png',
  'http://LOCALHOST./x.png',
  'http://metadata.google.internal/',
  'http://printer/',
  'not an address',
])('an image at %s is refused', async (url) => {
  const direct = await respond({ type: 'input_image', image_url: url })
  expect([direct.status, await direct.json()]).toMatchObject([
    400,
    { error: { code: 'invalid_request', param: 'input[0].content[1].image_url' } },
  ])
  expect((await respond({ type: 'input_image', image_url: { url } })).status).toBe(400)
  const stored = await api.post('/v1/conversations', { items: [message({ type: 'input_image', image_url: url })] })
  expect([stored.status, await stored.json()]).toMatchObject([400, { error: { param: 'items[0].content[1].image_url' } }])
})

it.each(['https://example.com/x.png', 'http://93.184.216.34/x.png', 'data:image/png;base64,iVBORw0KGgo=', 'https://[2606:4700::1111]/'])(
  'an image at %s is accepted',
  async (url) => {
    expect((await respond({ type: 'input_image', image_url: url })).status).toBe(200)
  },
)
