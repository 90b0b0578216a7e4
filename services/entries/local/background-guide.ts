import { join } from 'node:path'
import type { BackgroundBuild } from './background-image.ts'
import { runInBackground } from './background-script.ts'

const BUILD = join(import.meta.dirname, '../../../scripts/docs/build.ts')

/** Builds the documentation into `folder` after `after` has settled: two builds at once would slow down the first minutes. */
export function buildGuide(
  folder: string,
  { after, say }: { readonly after: Promise<void>; readonly say: (line: string) => void },
): BackgroundBuild {
  const build = runInBackground(BUILD, [folder], { after })
  const report = async (): Promise<void> => {
    const { isGood, wasStopped, seconds, lastStep } = await build.ended
    if (wasStopped) return
    if (isGood) say(`✓ The documentation is at /docs/guide/ (built in ${seconds} s).`)
    else say(`✗ The documentation could not be built: ${lastStep} Try again with npm run docs:build, or read the folder docs/.`)
  }
  return { ended: report().catch(() => undefined), stop: () => build.stop() }
}
