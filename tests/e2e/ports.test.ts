import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { request, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { WebSocket } from 'ws'
import { createTenant } from '../support/create-tenant.ts'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import type { NativeClient } from '../support/native-client.ts'
import { ensureNetworkClientsImage } from '../support/network-clients-image.ts'
import { createE2b } from '../support/wire-clients.ts'

const run = promisify(execFile)
const BIG = 50 * 1024 * 1024
const ECHO_HOST = `
import http.server
class Echo(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.headers["Host"].encode())
http.server.HTTPServer(("127.0.0.1", 8080), Echo).serve_forever()
`
let image: string
let server: LocalServerProcess

interface Published {
  readonly origin: string
  readonly url: string
  readonly token: string
}

beforeAll(async () => {
  image = await ensureNetworkClientsImage(inject('sandboxImage'))
  server = await startServer({ env: { CELLBLOCK_SANDBOX_IMAGE: image } })
})
afterAll(() => server.stop())

/** As a client whose system resolves names below `localhost`. */
function visit(
  address: string,
  headers: Record<string, string> = {},
  body?: Buffer,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
  const { host, port, pathname, search } = new URL(address)
  const options = { host: '127.0.0.1', port, path: `${pathname}${search}`, method: body === undefined ? 'GET' : 'POST' }
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, headers: { host, ...headers }, agent: false }, (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part)).once('error', reject)
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts) }))
    })
    sent.once('error', reject).end(body)
  })
}
/** The number of sandboxes of a server. */
const sandboxesOf = async ({ stage }: LocalServerProcess): Promise<number> =>
  (await run('docker', ['ps', '-aq', '--filter', `label=cellblock.stage=${stage}`])).stdout.split('\n').filter(Boolean).length
const withToken = ({ token }: Published) => ({ 'cellblock-port-token': token })
const publish = (api: NativeClient, id: string, port: number): Promise<Published> =>
  api.json<Published & Record<string, unknown>>('POST', `/v1/containers/${id}/ports`, { port })
/** Starts a program that outlives the execution, and waits until its port answers. */
async function start(api: NativeClient, id: string, argv: readonly string[], port: number): Promise<Published> {
  const started = await api.run(id, `import subprocess; program = subprocess.Popen(${JSON.stringify(argv)}, stdout=subprocess.DEVNULL)`)
  expect(started).toMatchObject({ status: 'succeeded' })
  const published = await publish(api, id, port)
  await expect.poll(async () => (await visit(published.origin, withToken(published))).status, { timeout: 20_000 }).toBe(200)
  return published
}

const FILES = ['python', '-m', 'http.server', '8000', '--directory', '/mnt/data'] as const
const NODE = [
  'node',
  '-e',
  `const { createServer } = require('http'), { createHash } = require('crypto')
createServer((request, response) => {
  if (request.url === '/big') return response.end(Buffer.alloc(${BIG}, 'x'))
  const hash = createHash('sha256')
  request.on('data', (part) => hash.update(part)).on('end', () => response.end(request.method + ' ' + hash.digest('hex')))
}).on('upgrade', (request, socket) => {
  const key = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
  socket.write('HTTP/1.1 101 \\r\\nupgrade: websocket\\r\\nconnection: upgrade\\r\\nsec-websocket-accept: ' + key + '\\r\\n\\r\\n')
  // The frame of a short text goes back without its mask.
  socket.on('data', (frame) => {
    const size = frame[1] & 127, text = frame.subarray(6, 6 + size).map((byte, at) => byte ^ frame[2 + (at & 3)])
    socket.write(Buffer.concat([Buffer.from([0x81, size]), text]))
  })
}).listen(3000)`,
] as const

it('programs of Python and Node answer on their own origins; another tenant reaches neither', { timeout: 180_000 }, async () => {
  const api = server.native
  const id = await api.createContainer()
  await api.run(id, 'open("/mnt/data/page.html", "w").write("<p>from the sandbox")')
  const files = await start(api, id, FILES, 8000)
  expect((await visit(`${files.origin}/page.html`, withToken(files))).body.toString()).toBe('<p>from the sandbox')
  const node = await start(api, id, NODE, 3000)
  const body = Buffer.alloc(BIG, 'y')
  expect((await visit(node.origin, withToken(node), body)).body.toString()).toBe(`POST ${createHash('sha256').update(body).digest('hex')}`)
  expect((await visit(`${node.origin}/big`, withToken(node))).body.equals(Buffer.alloc(BIG, 'x'))).toBe(true)

  const { host, port } = new URL(node.origin)
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { host, ...withToken(node) } })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  socket.send('echo')
  expect(String(await new Promise((resolve) => socket.once('message', resolve)))).toBe('echo')
  socket.close()

  const other = server.as(await createTenant(server, 'visitors'))
  const own = await publish(other, await other.createContainer(), 8000)
  expect((await visit(files.origin, withToken(own))).status).toBe(404)
  expect((await visit(files.origin, withToken(node))).status).toBe(404)
  expect((await other.call('POST', `/v1/containers/${id}/ports`, { port: 8000 })).status).toBe(404)
  expect((await visit(own.origin, withToken(own))).status).toBe(503)

  const silent = await publish(api, id, 8001)
  const answer = await visit(silent.origin, withToken(silent))
  expect([answer.status, answer.body.toString()]).toEqual([502, expect.stringContaining('Nothing listens on port 8001')])
  await api.run(id, 'program.kill(); program.wait()')
  await expect.poll(async () => (await visit(node.origin, withToken(node))).status).toBe(502)
})

const FLASK = `
import time
from flask import Flask, Response, redirect, request, session
app = Flask(__name__)
app.secret_key = "of the app"
@app.route("/")
def home():
    return f"{request.host} {request.headers['X-Forwarded-Host']} {session.get('name')} {sorted(request.cookies)}"
@app.post("/name")
def name():
    session["name"] = request.form["name"]
    return redirect("/", 303)
@app.route("/events")
def events():
    def parts():
        for number in range(5):
            yield f"data: {number}\\n\\n"
            time.sleep(0.3)
    return Response(parts(), mimetype="text/event-stream")
app.run(port=5000)`

it('a Flask app keeps its own session, redirects to its own origin, and streams events as they happen', { timeout: 120_000 }, async () => {
  const api = server.native
  const id = await api.createContainer()
  await api.run(id, `open("/mnt/data/app.py", "w").write(${JSON.stringify(FLASK)})`)
  const flask = await start(api, id, ['python', '/mnt/data/app.py'], 5000)
  const { host, port } = new URL(flask.origin)
  const headers = { ...withToken(flask), cookie: 'cellblock_session=x; own=1', origin: flask.origin }
  expect((await visit(flask.origin, headers)).body.toString()).toBe(`localhost:5000 ${host} None ['own']`)
  const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
  const named = await visit(`${flask.origin}/name`, form, Buffer.from('name=Ann'))
  expect([named.status, named.headers.location]).toEqual([303, '/'])
  const cookie = String(named.headers['set-cookie']?.[0]).split(';')[0] ?? ''
  expect((await visit(flask.origin, { ...headers, cookie })).body.toString()).toBe(`localhost:5000 ${host} Ann ['session']`)

  const arrivals: number[] = []
  await new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/events', headers: { host, ...withToken(flask) } }
    request(options, (answer) => answer.on('data', () => arrivals.push(Date.now())).once('end', resolve))
      .once('error', reject)
      .end()
  })
  expect(arrivals.length).toBeGreaterThanOrEqual(5)
  expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(800)
})

it('user code reaches no socket of the supervisor by a link in the place of a port', { timeout: 120_000 }, async () => {
  const api = server.native
  const id = await api.createContainer()
  const links = `
import os, socket
holder = socket.create_server(("127.0.0.1", 8000))
folder = os.environ["SOCKET_WRAPPER_DIR"]
for port, target in ((8001, "/run/cellblock/control/supervisor.sock"), (8002, "/run/network/proxy")):
    os.symlink(target, f"{folder}/T01{port:04X}")`
  expect(await api.run(id, links)).toMatchObject({ status: 'succeeded' })
  for (const port of [8001, 8002]) {
    const published = await publish(api, id, port)
    expect((await visit(`${published.origin}/health`, withToken(published))).status).toBe(502)
  }
})

it('a visitor keeps the container awake; a container without visitors hibernates and says so', { timeout: 180_000 }, async () => {
  const short = await startServer({ env: { CELLBLOCK_SANDBOX_IMAGE: image, CELLBLOCK_IDLE_SECONDS: '4' } })
  try {
    const id = await short.native.createContainer()
    const files = await start(short.native, id, FILES, 8000)
    const until = Date.now() + 12_000
    await expect
      .poll(async () => [(await visit(files.origin, withToken(files))).status, Date.now() > until], { timeout: 60_000, interval: 500 })
      .toEqual([200, true])
    // There are no more visits.
    await expect.poll(() => sandboxesOf(short), { timeout: 60_000, interval: 1_000 }).toBe(0)
    const answer = await visit(files.origin, withToken(files))
    expect([answer.status, answer.body.toString()]).toEqual([503, expect.stringContaining('hibernates')])
  } finally {
    await short.stop()
  }
})

it('publications and programs outlive a killed server', { timeout: 180_000 }, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'cellblock-ports-'))
  const env = { CELLBLOCK_SANDBOX_IMAGE: image }
  const first = await startServer({ dataDir, env })
  try {
    const id = await first.native.createContainer()
    const before = await start(first.native, id, FILES, 8000)
    await first.kill()
    const second = await startServer({ dataDir, env })
    try {
      const { port } = new URL(second.url)
      const origin = before.origin.replace(/:\d+$/, `:${port}`)
      await expect.poll(async () => (await visit(origin, withToken(before))).status, { timeout: 60_000 }).toBe(200)
      expect((await publish(second.native, id, 8000)).token).toBe(before.token)
    } finally {
      await second.stop()
    }
  } finally {
    await first.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
})

it(
  "E2B's client: getHost reaches an open sandbox, a closed one with its token, and neither after its end",
  { timeout: 180_000 },
  async () => {
    const address = (host: string) => `http://${host}`
    const serve = (sandbox: Awaited<ReturnType<typeof createE2b>>) =>
      sandbox.commands.run('echo hello > index.html; (setsid python -m http.server 8080 > /dev/null 2>&1 &) ; sleep 0.1')
    const open = await createE2b(server)
    await serve(open)
    await expect.poll(async () => (await visit(address(open.getHost(8080)))).body.toString(), { timeout: 20_000 }).toBe('hello\n')
    const closed = await createE2b(server, { network: { allowPublicTraffic: false } })
    await serve(closed)
    const token = String(closed.trafficAccessToken)
    const withTraffic = () => visit(address(closed.getHost(8080)), { 'e2b-traffic-access-token': token })
    await expect.poll(async () => (await withTraffic()).status, { timeout: 20_000 }).toBe(200)
    expect((await visit(address(closed.getHost(8080)))).status).toBe(403)
    expect((await visit(address(closed.getHost(8080)), { 'e2b-traffic-access-token': String(open.trafficAccessToken) })).status).toBe(403)
    const masked = await createE2b(server, { network: { maskRequestHost: 'app.example.com:${PORT}' } })
    await masked.files.write('echo.py', ECHO_HOST)
    await masked.commands.run('(setsid python echo.py > /dev/null 2>&1 &) ; sleep 0.1')
    const ownHost = async () => (await visit(address(masked.getHost(8080)))).body.toString()
    await expect.poll(ownHost, { timeout: 20_000 }).toBe('app.example.com:8080')
    await Promise.all([open.kill(), closed.kill(), masked.kill()])
    const gone = await visit(address(open.getHost(8080)))
    expect([gone.status, JSON.parse(gone.body.toString())]).toEqual([
      502,
      expect.objectContaining({ message: 'The sandbox was not found', code: 502 }),
    ])
  },
)
