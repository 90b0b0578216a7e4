import { ECRClient, GetAuthorizationTokenCommand, DescribeImagesCommand } from '@aws-sdk/client-ecr'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { repositoryTag } from '../../infra/build/image-inputs.ts'
import { runCommand } from '../setup/command.ts'
import { SetupError } from '../setup/progress.ts'
import type { Deployment } from './deployment.ts'
import { pushLayers } from './push-layers.ts'

/** Docker's names of Fargate's architectures. */
const DOCKER_ARCHITECTURES = { X86_64: 'amd64', ARM64: 'arm64' } as const

/**
 * Pushes the local image under its tag, a hash of its content, unless the repository has it. Throws a SetupError if the image's architecture
 * differs from the sandboxes'.
 */
export async function pushImage(deployment: Deployment, local: string, repository: string): Promise<void> {
  const tag = repositoryTag(local)
  const remote = `${repository}:${tag}`
  await checkArchitecture(deployment, local)
  const ecr = new ECRClient(deployment.sdk)
  const repositoryName = repository.slice(repository.indexOf('/') + 1)
  const present = await ecr
    .send(new DescribeImagesCommand({ repositoryName, imageIds: [{ imageTag: tag }] }))
    .then(({ imageDetails = [] }) => imageDetails.length > 0)
    .catch((error: unknown) => {
      if (error instanceof Error && error.name === 'ImageNotFoundException') return false
      throw error
    })
  if (present) return deployment.progress(`image ${tag} is in the repository`)

  const { authorizationData = [] } = await ecr.send(new GetAuthorizationTokenCommand({}))
  const password = Buffer.from(authorizationData[0]?.authorizationToken ?? '', 'base64')
    .toString()
    .replace(/^AWS:/, '')
  await logIn(deployment, repository.slice(0, repository.indexOf('/')), password)
  await pushLayers(deployment, local, remote)
}

async function checkArchitecture({ config, env }: Deployment, local: string): Promise<void> {
  const wanted = DOCKER_ARCHITECTURES[config.sandboxes.architecture]
  const { stdout } = await runCommand('docker', ['image', 'inspect', '--format', '{{.Architecture}}', local], { env })
  const built = stdout.trim()
  if (built !== wanted)
    throw new SetupError(
      `The sandbox image is built for ${built}, and cdk.json asks for ${config.sandboxes.architecture} (${wanted}). Set sandboxes.architecture to this machine's architecture, or deploy from a machine with ${wanted}.`,
    )
}

/** Passes the password over standard input: every user of the machine can read arguments. */
async function logIn({ env }: Deployment, registry: string, password: string): Promise<void> {
  const child = spawn('docker', ['login', '--username', 'AWS', '--password-stdin', registry], { env, stdio: ['pipe', 'ignore', 'pipe'] })
  let errorOutput = ''
  child.stderr.on('data', (chunk: Buffer) => (errorOutput += chunk.toString()))
  child.stdin.end(password)
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new SetupError(`${errorOutput.trim()}\n\nDocker could not log in to ${registry}. Check that it can be reached.`)
}
