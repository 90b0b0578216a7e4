// Prints the tag of the sandbox image that `npm run image` has just made sure of.
import { ensureSandboxImage } from './sandbox-image.ts'
import { quiet } from './setup/progress.ts'

console.log(await ensureSandboxImage(quiet))
