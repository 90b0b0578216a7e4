// Builds a sandbox image if its inputs have changed and prints its tag. `--variant slim|standard|full`; `--sbom FILE` writes its bill of materials.
// `--server` builds the image of the server (compose.yaml) instead.
// `--requirements FILE --apt "NAME …" --wheels FOLDER --wheelhouse FOLDER --nltk FOLDER --name NAME` builds an operator's image on top of the variant.
import { writeFile } from 'node:fs/promises'
import { sbomOf, serverSbomOf } from './image-sbom.ts'
import { readOptions, refuseOption } from './read-options.ts'
import { ensureSandboxImage } from './setup/sandbox-image.ts'
import { ensureServerImage } from './setup/server-image.ts'
import { runCommand } from './setup/command.ts'
import { IMAGE_VARIANTS, type ImageVariant } from '../infra/build/image-inputs.ts'
import { resolveOwnPackages } from './setup/own-packages.ts'
import { SetupError, step } from './setup/progress.ts'

const { sbom, server, variant, background, name, requirements, apt, wheels, wheelhouse, nltk } = readOptions('image', {
  sbom: { type: 'string' },
  server: { type: 'boolean', default: false },
  variant: { type: 'string', default: 'slim' },
  background: { type: 'boolean', default: false },
  name: { type: 'string', default: 'own' },
  requirements: { type: 'string' },
  apt: { type: 'string' },
  wheels: { type: 'string' },
  wheelhouse: { type: 'string' },
  nltk: { type: 'string' },
})
if (!isVariant(variant)) refuseOption('image', `--variant accepts ${IMAGE_VARIANTS.join(', ')}.`)
const hasOwn = [requirements, apt, wheelhouse, nltk].some((option) => option !== undefined)
const debianPackages = (apt ?? '').split(/[\s,]+/).filter((one) => one !== '')
const image = await build(variant).catch((error: unknown) => {
  if (!(error instanceof SetupError)) throw error
  console.error(`✗ ${error.message}`)
  process.exit(1)
})
const { stdout: size } = await runCommand('docker', ['image', 'inspect', '--format', '{{.Size}}', image], { timeoutSeconds: 30 })
console.error(`${(Number(size) / 1e9).toFixed(2)} GB`)
console.log(image)
if (sbom !== undefined) await writeFile(sbom, `${JSON.stringify(await (server ? serverSbomOf(image) : sbomOf(image)), null, 2)}\n`)

async function build(wanted: ImageVariant): Promise<string> {
  if (server)
    return step('Image of the server', { always: false }, async (progress) => {
      const value = await ensureServerImage(progress)
      return { found: value, value }
    })
  const own = hasOwn ? await resolveOwnPackages({ name, requirements, debianPackages, wheels, wheelhouse, nltk }, wanted) : undefined
  return step(`Image ${own?.name ?? wanted}`, { always: false }, async (progress) => {
    const value = await ensureSandboxImage(progress, { variant: wanted, isBackground: background, ...(own && { own }) })
    return { found: value, value }
  })
}

function isVariant(name: string): name is ImageVariant {
  return (IMAGE_VARIANTS as readonly string[]).includes(name)
}
