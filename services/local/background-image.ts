import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ImageCatalogue } from '../core/containers/images.ts'

const BUILD = join(import.meta.dirname, '../../scripts/print-image.ts')
/** Live code has priority over the build. */
const LOWEST_PRIORITY = 19
/** Minimum interval between printed build steps, milliseconds: the sign-in link should stay on the screen. */
const REPORT_EVERY_MS = 60_000

interface BackgroundBuild {
  /** The reference of the image; null when the build failed or was stopped. */
  readonly built: Promise<string | null>
  stop(): void
}

/** Builds an image of this project beside the running server and prints its steps. */
function buildImage(name: string, say: (line: string) => void): BackgroundBuild {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', BUILD, '--variant', name, '--background'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (child.pid !== undefined) setPriority(child.pid, LOWEST_PRIORITY)
  const startedAt = performance.now()
  let reportedAt = 0
  let isStopped = false
  let lastLine = ''
  let reference: string | null = null
  createInterface(child.stdout).on('line', (line) => (reference = line.trim()))
  createInterface(child.stderr).on('line', (line) => {
    lastLine = line.trim()
    const now = performance.now()
    if (now - reportedAt < REPORT_EVERY_MS) return
    reportedAt = now
    say(`▸ Image ${name}: ${lastLine}`)
  })
  const finish = async (): Promise<string | null> => {
    const code = await once(child, 'close').then(
      ([status]) => status as number | null,
      () => null,
    )
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    if (isStopped) return null
    if (code === 0 && reference !== null) {
      say(`✓ Image ${name} is ready after ${seconds} s (${lastLine}). New containers use it.`)
      return reference
    }
    say(
      `✗ Image ${name} could not be built, so containers keep the present one: ${lastLine} Try again with npm run image -- --variant ${name}`,
    )
    return null
  }
  return {
    built: finish(),
    stop: () => {
      isStopped = true
      child.kill('SIGTERM')
    },
  }
}

/** When the image is built, containers that name none get it, and the warm pool is replaced. */
export function switchToBuiltImage(
  name: string,
  server: { readonly images: ImageCatalogue; readonly refill: () => Promise<void>; readonly say: (line: string) => void },
): Pick<BackgroundBuild, 'stop'> {
  const build = buildImage(name, server.say)
  const change = async (): Promise<void> => {
    const reference = await build.built
    if (reference === null) return
    server.images.add(name, reference, { asDefault: true })
    await server.refill()
  }
  void change().catch(() => undefined)
  return build
}
