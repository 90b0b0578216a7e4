import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../../../scripts/setup/command.ts'
import { startNetwork } from '../../integration/network/start-network.ts'
import { internetAuthority, startMirror } from '../../support/mirror.ts'
import { ensureNetworkClientsImage } from '../../support/network-clients-image.ts'
import type { Bench } from '../bench.ts'
import { median, round, summarize } from '../statistics.ts'

const HOST = 'bench.example.com'
const DOWNLOAD_MIB = 200
const LABEL = 'cellblock.bench'

/** Requests on one kept connection, then one long answer. It prints both lists, milliseconds and MB per second. */
const program = (requests: number, downloads: number, connect: string): string => `
import http.client, json, ssl, time
context = ssl.create_default_context(cafile=CA)
connection = ${connect}
def get(path):
    connection.request("GET", path)
    answer, size = connection.getresponse(), 0
    while part := answer.read1(262144):
        size += len(part)
    return size
for _ in range(20):
    get("/small")
times, speeds = [], []
for _ in range(${requests}):
    start = time.perf_counter(); get("/small"); times.append((time.perf_counter() - start) * 1e3)
for _ in range(${downloads}):
    start = time.perf_counter(); size = get("/large"); speeds.append(size / 1e6 / (time.perf_counter() - start))
print(json.dumps([times, speeds]))`

/** The same program with the same Python: in a sandbox through its gateway, and in a container that reaches this machine directly. */
export const network: Bench = {
  name: 'network',
  title: 'a request and a download through the gateway, beside a direct connection',
  async run({ isQuick, image }) {
    const part = Buffer.alloc(1024 * 1024, 'x')
    await using mirror = await startMirror([HOST], ({ url }, response) => {
      if (url === '/small') return response.end('small')
      response.setHeader('content-length', DOWNLOAD_MIB * part.length)
      let left = DOWNLOAD_MIB
      const send = (): void => {
        while (left > 0) {
          left -= 1
          if (!response.write(part)) return void response.once('drain', send)
        }
        response.end()
      }
      send()
    })
    const clients = await ensureNetworkClientsImage(image)
    const hosts = { [HOST]: { address: '127.0.0.1', port: mirror.port } }
    await using own = await startNetwork({ rules: [{ host: HOST }] }, hosts, { image: clients, label: LABEL })
    const [requests, downloads] = isQuick ? [100, 2] : [1_000, 10]
    const proxied = `CA = "/run/network/ca.pem"\n${program(requests, downloads, `http.client.HTTPSConnection("127.0.0.1", 3128, context=context); connection.set_tunnel("${HOST}", 443)`)}`
    const gateway = parse((await own.sandbox.supervisor.run(proxied, { timeout_ms: 300_000 })).stdout)
    const direct = parse(await runDirectly(clients, program(requests, downloads, directConnection(mirror.port))))
    return {
      figures: {
        network_gateway_ms: summarize('ms', gateway.times),
        network_direct_ms: summarize('ms', direct.times),
        network_gateway_mb_s: summarize('MB/s', gateway.speeds),
        network_direct_mb_s: summarize('MB/s', direct.speeds),
      },
      ratios: {
        network_added_ms: round(median(gateway.times) - median(direct.times)),
        network_mb_s: round(median(gateway.speeds)),
      },
    }
  },
}

/** A connection to the port of the mirror with the name of its certificate. */
const directConnection = (port: number): string => `http.client.HTTPSConnection("${HOST}", context=context)
import socket
connection.sock = context.wrap_socket(socket.create_connection(("127.0.0.1", ${port})), server_hostname="${HOST}")
connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)`

async function runDirectly(image: string, code: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-bench-network-'))
  try {
    await writeFile(join(folder, 'ca.pem'), (await internetAuthority()).certificate)
    await writeFile(join(folder, 'program.py'), `CA = "/bench/ca.pem"\n${code}`)
    const flags = [
      '--rm',
      '--network',
      'host',
      '--cpus',
      '1',
      '--label',
      LABEL,
      '--volume',
      `${folder}:/bench:ro`,
      '--entrypoint',
      '/usr/bin/python3',
    ]
    const {
      code: status,
      stdout,
      output,
    } = await runCommand('docker', ['run', ...flags, image, '/bench/program.py'], { timeoutSeconds: 300 })
    if (status !== 0) throw new Error(`The direct program failed: ${output}`)
    return stdout
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function parse(text: string): { readonly times: readonly number[]; readonly speeds: readonly number[] } {
  const [times = [], speeds = []] = JSON.parse(text) as readonly (readonly number[])[]
  return { times, speeds }
}
