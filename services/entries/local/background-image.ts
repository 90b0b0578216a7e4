import { join } from 'node:path'
import type { ImageCatalogue } from '../../model/containers/images.ts'
import { runInBackground } from './background-script.ts'

const BUILD = join(import.meta.dirname, '../../../scripts/print-image.ts')
/** Minimum interval between printed build steps, milliseconds: the sign-in link should stay on the screen. */
const REPORT_EVERY_MS = 60_000

export interface BackgroundBuild {
  /** Resolves when the build has ended, in whatever way. */
  readonly ended: Promise<void>
  stop(): void
}

/** Builds an image of this project after `after` has settled. When it is built, containers that name none get it, and the warm pool is replaced. */
export function switchToBuiltImage(
  name: string,
  server: {
    readonly images: ImageCatalogue
    readonly after: Promise<void>
    readonly refill: () => Promise<void>
    readonly say: (line: string) => void
  },
): BackgroundBuild {
  let reportedAt = 0
  const onStep = (line: string): void => {
    const now = performance.now()
    if (now - reportedAt < REPORT_EVERY_MS) return
    reportedAt = now
    server.say(`▸ Building the image ${name} in the background: ${line.replace(/^… /, '')}`)
  }
  const build = runInBackground(BUILD, ['--variant', name, '--background'], { after: server.after, onStep })
  const change = async (): Promise<void> => {
    const { isGood, wasStopped, seconds, output, lastStep } = await build.ended
    if (wasStopped) return
    if (!isGood || output === null) {
      server.say(
        `✗ Image ${name} could not be built, so containers keep the present one: ${lastStep} Try again with npm run image -- --variant ${name}`,
      )
      return
    }
    server.say(`✓ Image ${name} is ready after ${seconds} s (${lastStep}). New containers use it.`)
    server.images.add(name, output, { asDefault: true })
    await server.refill()
  }
  return { ended: change().catch(() => undefined), stop: () => build.stop() }
}
