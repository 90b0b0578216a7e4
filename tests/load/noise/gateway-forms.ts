import { setTimeout as delay } from 'node:timers/promises'
import type { Hostile, HostileForm } from './hostile-forms.ts'
import { callNative, type NativeClient } from '../../support/native-client.ts'

/** Hosts that the hostile tenant may reach: one that answers, and any number of names. */
export const HOSTILE_HOST = 'hostile.example.com'
export const MANY_HOSTS = '*.many.example.com'

/** A program of the sandbox has this time beyond the measurement, seconds. */
const MARGIN_SECONDS = 2
const POLL_MS = 20

interface Command {
  readonly id: string
  readonly stdout: string
  readonly ended_at: string | null
}

const PRELUDE = `
import itertools, os, socket, ssl, sys, threading, time
HOST = "${HOSTILE_HOST}"
context = ssl.create_default_context(cafile="/run/network/ca.pem")
numbers = itertools.count()
def connect():
    sock = socket.create_connection(("127.0.0.1", 3128))
    sock.settimeout(max(0.1, END - time.monotonic()))
    return sock
def tunnel(host=HOST):
    sock = connect()
    sock.sendall(f"CONNECT {host}:443 HTTP/1.1\\r\\nHost: {host}:443\\r\\n\\r\\n".encode())
    if b" 200 " not in sock.recv(4096):
        raise OSError("refused")
    return context.wrap_socket(sock, server_hostname=host)
def drain(sock):
    while sock.recv(1 << 16):
        pass
def repeat(threads, act):
    def loop():
        while time.monotonic() < END:
            try:
                with act() as sock:
                    drain(sock)
            except OSError:
                pass
    for _ in range(threads):
        threading.Thread(target=loop, daemon=True).start()
    time.sleep(max(0, END - time.monotonic()))
    os._exit(0)
def sent(sock, text):
    sock.sendall(text if isinstance(text, bytes) else text.encode())
    return sock
get = lambda path, more="": f"GET {path} HTTP/1.1\\r\\nHost: {HOST}\\r\\n{more}\\r\\n"
print("ready", flush=True)
sys.stdin.readline()
END = time.monotonic() + float(sys.argv[1])
`

const COMPUTE = `
def compute():
    while time.monotonic() < END:
        sum(range(10_000))
for _ in range(40):
    threading.Thread(target=compute, daemon=True).start()
time.sleep(max(0, END - time.monotonic()))
`

const form = (name: string, load: string, program: string): HostileForm => ({
  name: `gateway: ${name}`,
  load: `in 3 containers, ${load}`,
  probes: ['network', 'requests'],
  isAlone: true,
  start: (hostile) => runInContainers(hostile, `${PRELUDE}${program}`),
})

/** In each container at the same time; it ends after the measurement. The programs are started before, because their start takes the processors. */
async function runInContainers({ url, apiKey, networked, seconds }: Hostile, program: string): Promise<void> {
  const client = callNative(url, apiKey)
  const argv = ['python3', '-c', program, String(seconds + MARGIN_SECONDS)]
  const body = { argv, background: true, stdin: 'open', timeout_seconds: seconds + 120 }
  const commands = await Promise.all(networked.map((id) => client.json<Command>('POST', `/v1/containers/${id}/commands`, body)))
  await Promise.all(commands.map((command) => untilReady(client, command)))
  await Promise.all(commands.map(({ id }) => client.json('POST', `/v1/commands/${id}/stdin`, { data: 'go\n' })))
}

/** Throws when the program ends instead. */
async function untilReady(client: NativeClient, command: Command): Promise<void> {
  for (let seen = command; !seen.stdout.includes('ready'); await delay(POLL_MS)) {
    if (seen.ended_at !== null) throw new Error(`The program ${command.id} ended before it was ready.`)
    seen = await client.json<Command>('GET', `/v1/commands/${command.id}`)
  }
}

/** What the code of a tenant with a network does to the gateway, which serves every tenant. The first is the control: what all have in common is code that runs. */
export const GATEWAY_FORMS: readonly HostileForm[] = [
  form('control', '40 threads each that compute and connect to nothing', COMPUTE),
  form('idle connections', '48 connections each that send nothing', 'repeat(48, connect)'),
  form(
    'unfinished bodies',
    '40 uploads each that stop after 64 KiB of 9 MB',
    'repeat(40, lambda: sent(tunnel(), f"POST /silent HTTP/1.1\\r\\nHost: {HOST}\\r\\nContent-Length: 9000000\\r\\n\\r\\n" + "x" * 65536))',
  ),
  form(
    'long heads',
    '16 callers each whose requests have heads of 31 and of 40 KB',
    'repeat(16, lambda: sent(tunnel(), get("/", "X-Long: " + "x" * (31_000 if next(numbers) % 2 else 40_000) + "\\r\\n")))',
  ),
  form(
    'many hosts',
    '16 callers each that open a TLS connection to another name each time',
    'repeat(16, lambda: tunnel(f"n{os.getpid()}-{next(numbers)}.many.example.com").unwrap())',
  ),
  form(
    'refused CONNECT',
    '32 callers each that ask for denied hosts',
    'repeat(32, lambda: sent(connect(), f"CONNECT d{next(numbers)}.example.org:443 HTTP/1.1\\r\\n\\r\\n"))',
  ),
  form(
    'refused requests',
    '16 callers each that send 1,000 refused requests at once, each of them an entry of log and audit below the rate',
    'repeat(16, lambda: sent(connect(), f"GET http://d{next(numbers)}.example.org/x HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n" * 1_000))',
  ),
  form(
    'requests without answers',
    '8 callers each that send 1,000 requests at once to a host that never answers',
    'repeat(8, lambda: sent(tunnel(), get("/silent") * 1_000))',
  ),
  form(
    'masked answers',
    '16 callers each that read without a pause what is searched for 32 secrets of 8 KB, which it nearly contains',
    'repeat(16, lambda: sent(tunnel(), get("/large")))',
  ),
]
