import { bundleFunction } from './bundle-function.ts'
import { bundleTools } from './bundle-tools.ts'

const [entry, outputFolder, toolsFolder] = process.argv.slice(2)
if (entry === undefined || outputFolder === undefined) throw new Error('Usage: node infra/bundle/main.ts ENTRY FOLDER [TOOLS]')
await bundleFunction(entry, outputFolder)
if (toolsFolder !== undefined) await bundleTools(toolsFolder, outputFolder)
