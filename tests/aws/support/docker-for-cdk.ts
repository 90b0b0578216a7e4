// Stands for Docker when the CDK builds and pushes images into an emulated account, which has no registry. A build must have the very inputs of the local
// sandbox image, which then gets the CDK's name; a push needs no more than that name, because tasks run on this engine. All else goes to Docker.
// CELLBLOCK_LOCAL_IMAGE names the image.
import { spawnSync } from 'node:child_process'
import { imageTag } from '../../../infra/build/image-inputs.ts'

const [command = '', ...args] = process.argv.slice(2)
const local = process.env['CELLBLOCK_LOCAL_IMAGE'] ?? ''
const docker = (...given: readonly string[]): never => {
  const { status } = spawnSync('docker', given, { stdio: 'inherit' })
  process.exit(status ?? 1)
}

if (command === 'login' || command === 'push') process.exit(0)
const [source = ''] = args
if (command === 'tag' && source.startsWith('cdkasset-')) {
  const { status } = spawnSync('docker', ['tag', ...args], { stdio: 'inherit' })
  // The CDK's own name would stay on the engine.
  spawnSync('docker', ['rmi', '--no-prune', source], { stdio: 'ignore' })
  process.exit(status ?? 1)
}
if (command !== 'build') docker(command, ...args)
const wanted = await imageTag(process.cwd(), { variant: 'slim' })
if (!args.includes('VARIANT=slim') || wanted !== local) {
  console.error(`The CDK builds ${wanted} (${args.join(' ')}), and the local image is ${local}.`)
  process.exit(1)
}
docker('tag', local, args[args.indexOf('--tag') + 1] ?? '')
