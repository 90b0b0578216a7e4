import { join } from 'node:path'
import type { BackgroundBuild } from './background-image.ts'
import { runInBackground } from './background-script.ts'

const BUILD = join(import.meta.dirname, '../../scripts/docs/build.ts')

/** Builds the documentation into `folder` after `before` has ended: two builds at once would slow down the first minutes. */
export function buildGuide(
  folder: string,
  options: { readonly before: Promise<void>; readonly say: (line: string) => void },
): BackgroundBuild {
  const { before, say } = options
  const stopped = Promise.withResolvers<null>()
  let build: ReturnType<typeof runInBackground> | null = null
  const run = async (): Promise<void> => {
    if ((await Promise.race([before, stopped.promise])) === null) return
    build = runInBackground(BUILD, [folder], () => undefined)
    const { isGood, wasStopped, seconds, lastStep } = await build.ended
    if (wasStopped) return
    if (isGood) say(`✓ The documentation is at /docs/guide/ (built in ${seconds} s).`)
    else say(`✗ The documentation could not be built: ${lastStep} Try again with npm run docs:build, or read the folder docs/.`)
  }
  return {
    ended: run().catch(() => undefined),
    stop: () => {
      stopped.resolve(null)
      build?.stop()
    },
  }
}
