'use strict'
// A JavaScript session: evaluates cells one after another in one global scope. Fields of a cell come on descriptor 3, each ended by a null
// byte: variables (JSON), folder, language, code. The answer on descriptor 4 is one JSON text, ended by a null byte.

const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { Writable } = require('node:stream')
const vm = require('node:vm')
const nodeModule = require('node:module')
const { Session } = require('node:inspector')
const { inspect } = require('node:util')
const { explain, withExplanation } = require('./node_errors.cjs')

const FIELDS_PER_CELL = 4
const outputs = [process.stdout, process.stderr]
const MAX_RESULT_CHARACTERS = 256 * 1024
const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER

const cellFile = () => path.join(process.cwd(), 'cell.js')
globalThis.require = nodeModule.createRequire(cellFile())
// As in a script, also for `if (require.main === module)`.
globalThis.module = require.main = globalThis.require.main = new nodeModule(cellFile())
globalThis.exports = globalThis.module.exports
const assigned = (name) => (value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true, enumerable: true })
Object.defineProperty(globalThis, '__filename', { get: cellFile, set: assigned('__filename'), configurable: true })
Object.defineProperty(globalThis, '__dirname', { get: () => process.cwd(), set: assigned('__dirname'), configurable: true })
globalThis.fetch = withExplanation(globalThis.fetch)
// The engine's evaluation in REPL mode has no loader for `import()`; this function has Node's.
const load = vm.runInThisContext('(name, options) => import(name, options)', { filename: 'cell.js', importModuleDynamically })
Object.defineProperty(globalThis, '__import', { value: load })

/** Static imports exist in modules only; a cell is a script. */
function withoutStaticImports(code) {
  return code.replace(/^import\s+(?:([\w$]+)\s*,?\s*)?(?:\*\s*as\s+([\w$]+)\s+|\{([^}]*)\}\s*)?(?:from\s+)?(['"][^'"\n]+['"])\s*;?/gm, (_all, name, all, names, from) => {
    const lines = []
    if (name) lines.push(`let ${name} = (await import(${from})).default;`)
    if (all) lines.push(`let ${all} = await import(${from});`)
    if (names) lines.push(`let {${names.replace(/\bas\b/g, ':')}} = await import(${from});`)
    return lines.join(' ') || `await import(${from});`
  })
}

/** Only modules export. Names that a cell exports are variables of the session, and a value without a name is an expression. */
function withoutExports(code) {
  return code
    .replace(/^export\s+default\s+(?=(?:async\s+)?(?:function\b\s*\*?|class\b)\s*(?!extends\b)[\w$])/gm, '')
    .replace(/^export\s+default\s+/gm, 'void 0, ')
    .replace(/^export\s*(?:\{[^}]*\}|\*(?:\s*as\s+[\w$]+)?)\s*(?:from\s*(['"][^'"\n]+['"]))?\s*;?/gm, (_all, from) => (from ? `await import(${from});` : ''))
    .replace(/^export\s+(?=(?:async\s+function|function|const|let|var|class)\b)/gm, '')
}

/** The engine lets a later cell declare a name again with the same keyword; `let` is that for all. Lines inside of functions are indented. */
const withOneKeyword = (code) => code.replace(/^const(?=\s)/gm, 'let')

const withLoader = (code) => code.replace(/\bimport\s*\(/g, '__import(')

function toScript(code, language) {
  if (language !== 'typescript') return withoutStaticImports(withoutExports(code))
  if (typeof nodeModule.stripTypeScriptTypes !== 'function') throw new Error(`Node ${process.version} cannot run TypeScript.`)
  return withoutStaticImports(withoutExports(nodeModule.stripTypeScriptTypes(code, { mode: 'transform' })))
}

const engine = new Session()
engine.connect()
const OBJECT_GROUP = 'cell'
const post = (method, params) => new Promise((resolve, reject) => engine.post(method, params, (error, answer) => (error ? reject(error) : resolve(answer))))

/** The value behind the engine's description of it. */
let handOver
async function valueOf(described) {
  const { objectId, unserializableValue, value } = described
  if (described.type === 'undefined') return undefined
  const argument = objectId ? { objectId } : unserializableValue ? { unserializableValue } : { value }
  handOver ??= (await post('Runtime.evaluate', { expression: '(value) => { globalThis[Symbol.for("cellblock.value")] = value }' })).result.objectId
  await post('Runtime.callFunctionOn', { functionDeclaration: 'function (value) { this(value) }', objectId: handOver, arguments: [argument] })
  const key = Symbol.for('cellblock.value')
  const found = globalThis[key]
  delete globalThis[key]
  return found
}

/** V8's REPL mode: top-level await, and `let`, `const` and `class` may declare a name again. A promise that is the last value is awaited. */
async function run(code) {
  const request = { expression: `${code}\n//# sourceURL=cell.js`, replMode: true, awaitPromise: true, objectGroup: OBJECT_GROUP }
  try {
    const { result, exceptionDetails } = await post('Runtime.evaluate', request)
    if (exceptionDetails) throw await valueOf(exceptionDetails.exception)
    return await valueOf(result)
  } finally {
    await post('Runtime.releaseObjectGroup', { objectGroup: OBJECT_GROUP })
  }
}

const runCell = (code, language) => run(withLoader(withOneKeyword(toScript(code, language))))

function describe(error) {
  explain(error)
  if (!(error instanceof Error) && !(typeof error === 'object' && error !== null && 'stack' in error))
    return { name: 'Uncaught', value: inspect(error), traceback: [] }
  const stack = String(error.stack ?? error)
  const own = stack.split('\n').filter((line) => !/node:(?:internal|vm|inspector)|node_session\.cjs|at new Promise \(<anonymous>\)/.test(line))
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

/** Resolves when what was written before has left the process, whatever code has made of `write`. */
const flushed = (stream) => new Promise((resolve) => (stream.destroyed ? resolve() : Writable.prototype.write.call(stream, '', resolve)))

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
// A file stream would block `process.exit` while it waits for the next cell.
new net.Socket({ fd: 3, readable: true, writable: false }).on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk])
  for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
    fields.push(rest.subarray(0, end).toString('utf8'))
    rest = rest.subarray(end + 1)
    if (fields.length < FIELDS_PER_CELL) continue
    const cell = fields
    fields = []
    turn = turn.then(async () => {
      const reply = JSON.stringify(await answer(cell))
      // Output of a full pipe would otherwise belong to a later cell.
      await Promise.all(outputs.map(flushed))
      fs.writeSync(4, `${reply}\0`)
    })
  }
}).on('end', () => turn.then(() => process.exit(0)))
