// Builds a sandbox image if its inputs have changed and prints its tag. `--variant slim|standard|full`; `--sbom FILE` writes its bill of materials.
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { sbomOf } from './image-sbom.ts'
import { ensureSandboxImage } from './sandbox-image.ts'
import { runCommand } from './setup/command.ts'
import { IMAGE_VARIANTS, type ImageVariant } from './setup/image-inputs.ts'

const { sbom, variant, background } = parseArgs({
  options: { sbom: { type: 'string' }, variant: { type: 'string', default: 'slim' }, background: { type: 'boolean', default: false } },
}).values
if (!isVariant(variant)) {
  console.error(`✗ Unknown variant ${variant}. Choose one of ${IMAGE_VARIANTS.join(', ')}.`)
  process.exit(1)
}
const image = await ensureSandboxImage((line) => console.error(line), { variant, isBackground: background })
const { stdout: size } = await runCommand('docker', ['image', 'inspect', '--format', '{{.Size}}', image], { timeoutSeconds: 30 })
console.error(`${(Number(size) / 1e9).toFixed(2)} GB`)
console.log(image)
if (sbom !== undefined) await writeFile(sbom, `${JSON.stringify(await sbomOf(image), null, 2)}\n`)

function isVariant(name: string): name is ImageVariant {
  return (IMAGE_VARIANTS as readonly string[]).includes(name)
}
