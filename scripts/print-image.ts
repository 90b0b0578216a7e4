// Builds a sandbox image if its inputs have changed and prints its tag. `--variant slim|standard|full`; `--sbom FILE` writes its bill of materials.
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { sbomOf } from './image-sbom.ts'
import { ensureSandboxImage } from './sandbox-image.ts'
import { IMAGE_VARIANTS, type ImageVariant } from './setup/image-inputs.ts'

const { sbom, variant } = parseArgs({ options: { sbom: { type: 'string' }, variant: { type: 'string', default: 'slim' } } }).values
if (!isVariant(variant)) {
  console.error(`✗ Unknown variant ${variant}. Choose one of ${IMAGE_VARIANTS.join(', ')}.`)
  process.exit(1)
}
const image = await ensureSandboxImage((line) => console.error(line), { variant })
console.log(image)
if (sbom !== undefined) await writeFile(sbom, `${JSON.stringify(await sbomOf(image), null, 2)}\n`)

function isVariant(name: string): name is ImageVariant {
  return (IMAGE_VARIANTS as readonly string[]).includes(name)
}
