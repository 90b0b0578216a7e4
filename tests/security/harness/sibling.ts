import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { runCommand } from '../../../scripts/setup/command.ts'
import { TOKEN, type Hit } from './tripwires.ts'

const PORT = 8700
const READY = 'ready'
/** Its standard input is a pipe from the test's process, so that it ends with that process. */
const LISTENER = `
import os, socketserver, sys, threading
class Say(socketserver.BaseRequestHandler):
    def handle(self): print(self.request.recv(4096), flush=True)
def end():
    sys.stdin.buffer.read()
    os._exit(0)
server = socketserver.ThreadingTCPServer(("", ${PORT}), Say)
threading.Thread(target=end, daemon=True).start()
print("${READY}", flush=True)
server.serve_forever()`

/** Starts another container on the engine's default bridge that records connections. */
export async function startSibling(image: string) {
  const name = `cellblock-sibling-${randomUUID()}`
  const docker = async (...args: string[]): Promise<string> => (await runCommand('docker', args, { timeoutSeconds: 60 })).stdout.trim()
  const options = ['--rm', '--interactive', '--name', name, '--entrypoint', 'python3']
  const child = spawn('docker', ['run', ...options, image, '-c', LISTENER], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const [line] = (await Promise.race([once(createInterface(child.stdout), 'line'), exited])) as unknown[]
  if (line !== READY) throw new Error(`The sibling container did not start: ${String(line)}`)
  const seen = await docker('inspect', '--format', '{{.NetworkSettings.IPAddress}} {{.NetworkSettings.Gateway}}', name)
  const [address = '', gateway = ''] = seen.split(' ')
  return {
    targets: { sibling: address, siblingPort: PORT },
    gateway,
    hits: async (): Promise<readonly Hit[]> =>
      (await docker('logs', name))
        .split('\n')
        .filter((logged) => logged !== '' && logged !== READY)
        .map((logged) => ({ tripwire: 'sibling', token: TOKEN.exec(logged)?.[0] ?? null })),
    stop: async (): Promise<void> => {
      child.stdin.end()
      await exited
    },
  }
}
