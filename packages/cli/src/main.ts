import { createProcessIo } from './process-io.ts'
import { runProgram } from './program.ts'

const io = createProcessIo(() => Promise.resolve('http://127.0.0.1:8787'), process.cwd())
process.exitCode = await runProgram(process.argv.slice(2), io)
