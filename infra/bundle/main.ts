import { bundleFunction } from './bundle-function.ts'

const [entry, outputFolder] = process.argv.slice(2)
if (entry === undefined || outputFolder === undefined) throw new Error('Usage: node infra/bundle/main.ts ENTRY FOLDER')
await bundleFunction(entry, outputFolder)
