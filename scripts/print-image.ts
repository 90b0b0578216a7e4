// Prints the tag of the sandbox image that `npm run image` has just made sure of; `--sbom FILE` writes its bill of materials.
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { sbomOf } from './image-sbom.ts'
import { ensureSandboxImage } from './sandbox-image.ts'
import { quiet } from './setup/progress.ts'

const { sbom } = parseArgs({ options: { sbom: { type: 'string' } } }).values
const image = await ensureSandboxImage(quiet)
console.log(image)
if (sbom !== undefined) await writeFile(sbom, `${JSON.stringify(await sbomOf(image), null, 2)}\n`)
