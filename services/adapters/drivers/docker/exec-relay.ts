import { PassThrough, Duplex } from 'node:stream'
import type Docker from 'dockerode'
import { CONTROL_SOCKET } from './container-options.ts'

/** Waits for the supervisor's socket, then copies bytes both ways until either side ends. */
const RELAY = `
import os, socket, sys, threading, time
s = socket.socket(socket.AF_UNIX)
for n in range(1000):
    try:
        s.connect(${JSON.stringify(CONTROL_SOCKET)}); break
    except OSError:
        time.sleep(0.01)
else:
    sys.exit(1)
def up():
    while data := os.read(0, 65536): s.sendall(data)
    s.shutdown(socket.SHUT_WR)
threading.Thread(target=up, daemon=True).start()
while data := s.recv(65536):
    view = memoryview(data)
    while view: view = view[os.write(1, view):]
`

/** A byte stream to the supervisor through `docker exec -i`, for engines that share no sockets with their host. */
export const createExecRelay =
  (docker: Docker) =>
  async (containerName: string): Promise<Duplex> => {
    const exec = await docker
      .getContainer(containerName)
      .exec({ Cmd: ['/usr/bin/python3', '-IS', '-c', RELAY], AttachStdin: true, AttachStdout: true, AttachStderr: true })
    const raw: Duplex = await exec.start({ hijack: true, stdin: true })
    const fromSandbox = new PassThrough()
    docker.modem.demuxStream(raw, fromSandbox, new PassThrough().resume())
    raw.once('close', () => fromSandbox.end())
    raw.once('end', () => fromSandbox.end())
    const relay = Duplex.from({ readable: fromSandbox, writable: raw })
    relay.once('close', () => raw.destroy())
    return relay
  }
