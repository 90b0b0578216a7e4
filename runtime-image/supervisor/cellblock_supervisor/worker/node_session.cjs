'use strict'
// A JavaScript session: evaluates cells one after another in one global scope. Fields of a cell come on descriptor 3, each ended by a null
// byte: variables (JSON), folder, language, code. The answer on descriptor 4 is one JSON text, ended by a null byte.

const fs = require('node:fs')
const path = require('node:path')
const vm = require('node:vm')
const nodeModule = require('node:module')
const { inspect } = require('node:util')
// The REPL's own transformation of top-level await; the session is started with --expose-internals for it.
const { processTopLevelAwait } = require('internal/repl/await')

const FIELDS_PER_CELL = 4
const MAX_RESULT_CHARACTERS = 256 * 1024
const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER

globalThis.require = nodeModule.createRequire(path.join(process.cwd(), 'cell.js'))

/** Static imports exist in modules only; a cell is a script. */
function withoutStaticImports(code) {
  return code.replace(/^import\s+(?:([\w$]+)\s*,?\s*)?(?:\*\s*as\s+([\w$]+)\s+|\{([^}]*)\}\s*)?(?:from\s+)?(['"][^'"\n]+['"])\s*;?/gm, (_all, name, all, names, from) => {
    const lines = []
    if (name) lines.push(`var ${name} = (await import(${from})).default;`)
    if (all) lines.push(`var ${all} = await import(${from});`)
    if (names) lines.push(`var {${names.replace(/\bas\b/g, ':')}} = await import(${from});`)
    return lines.join(' ') || `await import(${from});`
  })
}

/** A cell that is run again declares its names again, which `var` allows. Declarations at the start of a line count as those of the cell. */
const withRedeclarations = (code) => code.replace(/^(?:const|let)(?=\s)/gm, 'var').replace(/^class\s+([\w$]+)/gm, 'var $1 = class $1')

function toScript(code, language) {
  if (language !== 'typescript') return withoutStaticImports(code)
  if (typeof nodeModule.stripTypeScriptTypes !== 'function') throw new Error(`Node ${process.version} cannot run TypeScript.`)
  return withoutStaticImports(nodeModule.stripTypeScriptTypes(code))
}

async function run(code) {
  const awaited = /\bawait\b/.test(code) ? processTopLevelAwait(code) : null
  const value = vm.runInThisContext(awaited ?? code, { filename: 'cell.js', importModuleDynamically })
  if (!awaited) return value
  const settled = await value
  return settled !== null && typeof settled === 'object' && 'value' in settled ? settled.value : settled
}

const runCell = (code, language) => run(withRedeclarations(toScript(code, language)))

function describe(error) {
  if (!(error instanceof Error) && !(typeof error === 'object' && error !== null && 'stack' in error))
    return { name: 'Uncaught', value: inspect(error), traceback: [] }
  const stack = String(error.stack ?? error)
  const own = stack.split('\n').filter((line) => !/node:(?:internal|vm)|node_session\.cjs/.test(line))
  return { name: String(error.name), value: String(error.message), traceback: own }
}

async function inScope(env, cwd, work) {
  const before = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]))
  const folder = process.cwd()
  try {
    if (cwd !== '') process.chdir(cwd)
    Object.assign(process.env, env)
    return await work()
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    if (cwd !== '') process.chdir(folder)
  }
}

async function answer([env, cwd, language, code]) {
  try {
    const value = await inScope(JSON.parse(env || '{}'), cwd, () => runCell(code, language))
    return { result: value === undefined ? null : inspect(value).slice(0, MAX_RESULT_CHARACTERS) }
  } catch (error) {
    return { error: describe(error) }
  }
}

// Errors of timers and promises between two awaits are printed, and the session continues.
process.on('uncaughtException', (error) => console.error(inspect(error)))
process.on('unhandledRejection', (error) => console.error(inspect(error)))

let rest = Buffer.alloc(0)
let fields = []
let turn = Promise.resolve()
fs.createReadStream('', { fd: 3 }).on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk])
  for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
    fields.push(rest.subarray(0, end).toString('utf8'))
    rest = rest.subarray(end + 1)
    if (fields.length < FIELDS_PER_CELL) continue
    const cell = fields
    fields = []
    turn = turn.then(async () => fs.writeSync(4, `${JSON.stringify(await answer(cell))}\0`))
  }
}).on('end', () => turn.then(() => process.exit(0)))
