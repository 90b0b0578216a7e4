import { randomUUID } from 'node:crypto'
import { runCommand } from '../../../scripts/setup/command.ts'
import { TOKEN, type Hit } from './tripwires.ts'

const PORT = 8700
const LISTENER = `
import socketserver
class Say(socketserver.BaseRequestHandler):
    def handle(self): print(self.request.recv(4096), flush=True)
socketserver.ThreadingTCPServer(("", ${PORT}), Say).serve_forever()`

/** Starts another container on the engine's default bridge that records connections. */
export async function startSibling(image: string) {
  const name = `cellblock-sibling-${randomUUID()}`
  const docker = async (...args: string[]): Promise<string> => (await runCommand('docker', args, { timeoutSeconds: 60 })).stdout.trim()
  await docker('run', '--detach', '--name', name, '--entrypoint', 'python3', image, '-c', LISTENER)
  const seen = await docker('inspect', '--format', '{{.NetworkSettings.IPAddress}} {{.NetworkSettings.Gateway}}', name)
  const [address = '', gateway = ''] = seen.split(' ')
  return {
    targets: { sibling: address, siblingPort: PORT },
    gateway,
    hits: async (): Promise<readonly Hit[]> =>
      (await docker('logs', name))
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => ({ tripwire: 'sibling', token: TOKEN.exec(line)?.[0] ?? null })),
    stop: async (): Promise<void> => void (await docker('rm', '--force', name)),
  }
}
