import { explainFailure, runCommand } from '../setup/command.ts'
import type { Deployment } from './deployment.ts'

/** The smallest layers: they are compressed once and pulled at every start of a task. */
const ZSTD_LEVEL = '19'

/**
 * Pushes a local image under `remote`, with layers compressed by zstd if this machine has skopeo; Docker compresses with gzip. Fargate starts a task from
 * zstd layers up to 27 % sooner (docs/images.md). The caller has logged Docker in, whose credentials skopeo uses. Throws a SetupError.
 */
export async function pushLayers({ env, progress }: Pick<Deployment, 'env' | 'progress'>, local: string, remote: string): Promise<void> {
  const hasSkopeo = (await runCommand('skopeo', ['--version'], { env })).code === 0
  progress(`pushing ${remote}, layers compressed with ${hasSkopeo ? 'zstd' : 'gzip (zstd, which starts tasks sooner, needs skopeo)'}`)
  for (const [program, args] of hasSkopeo ? zstdCopy(local, remote) : gzipPush(local, remote)) {
    const result = await runCommand(program, args, { env })
    if (result.code !== 0)
      throw explainFailure('The sandbox image could not be pushed: the reason is above. Run the command again.', result)
  }
}

type Calls = readonly (readonly [program: string, args: readonly string[]])[]

/** Docker's own manifest has no type for zstd, so the format is OCI's. */
const zstdCopy = (local: string, remote: string): Calls => [
  [
    'skopeo',
    [
      ...['copy', '--quiet', '--format', 'oci', '--dest-compress-format', 'zstd', '--dest-compress-level', ZSTD_LEVEL],
      `docker-daemon:${local}`,
      `docker://${remote}`,
    ],
  ],
]

const gzipPush = (local: string, remote: string): Calls => [
  ['docker', ['tag', local, remote]],
  ['docker', ['push', '--quiet', remote]],
]
