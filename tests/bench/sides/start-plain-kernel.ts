import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { BARE_KERNEL_SCRIPT } from './bare-kernel.ts'
import { BENCH_LABEL, docker } from './docker.ts'
import { timed } from './time.ts'

/** Milliseconds to create and start a container without a network through the Engine API until a standard ipykernel in it is ready. */
export async function timePlainStart(image: string): Promise<number> {
  const [Label, value = ''] = BENCH_LABEL.split('=')
  let container: Awaited<ReturnType<typeof docker.createContainer>> | undefined
  try {
    return await timed(async () => {
      container = await docker.createContainer({
        Image: image,
        Entrypoint: ['python3', '-c', BARE_KERNEL_SCRIPT, '1'],
        Labels: { [Label ?? '']: value },
        OpenStdin: true,
        HostConfig: { NetworkMode: 'none' },
      })
      const stream = await container.attach({ stream: true, stdout: true, stderr: true })
      const output = new PassThrough()
      container.modem.demuxStream(stream, output, process.stderr)
      const ready = once(output, 'data')
      await container.start()
      await ready
    })
  } finally {
    await container?.remove({ force: true })
  }
}
