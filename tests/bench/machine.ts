import { cpus, freemem, loadavg, release, totalmem, type as osType } from 'node:os'
import { readFile } from 'node:fs/promises'
import { docker } from './sides/docker.ts'

/** The machine on which the figures were measured. */
export interface Machine {
  readonly startedAt: string
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly freeMemoryGiB: number
  readonly system: string
  /** Load averages over 1, 5 and 15 minutes. */
  readonly loadBefore: readonly number[]
  readonly loadAfter: readonly number[]
}

const gibibytes = (bytes: number): number => Math.round(bytes / 2 ** 30)
export const loads = (): number[] => loadavg().map((load) => Math.round(load * 100) / 100)

export const describeMachine = (startedAt: Date, loadBefore: readonly number[]): Machine => ({
  startedAt: startedAt.toISOString(),
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memoryGiB: gibibytes(totalmem()),
  freeMemoryGiB: gibibytes(freemem()),
  system: `${osType()} ${release()}`,
  loadBefore,
  loadAfter: loads(),
})

export async function describeVersions(image: string): Promise<Readonly<Record<string, string>>> {
  const { Version } = await docker.version()
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as { readonly version: string }
  return { cellblock: version, node: process.versions.node, docker: Version, image }
}
