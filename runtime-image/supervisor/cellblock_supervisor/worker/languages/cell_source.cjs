'use strict'
// Makes the source of a cell, which may be a module, a script of the session. Only what a parser finds changes: strings, templates and comments stay
// as they are, and every line keeps its number.

const { parse } = require('acorn')

const OPTIONS = { ecmaVersion: 'latest', allowAwaitOutsideFunction: true, allowImportExportEverywhere: true, allowHashBang: true }

/** What makes Node run a file without a package as a module, besides `import.meta` and a top-level await. */
const IS_OF_MODULES = /^(?:Import|Export)[A-Za-z]*Declaration$/
const awaits = ({ type, kind, await: isAwaited }) => type === 'AwaitExpression' || isAwaited === true || kind === 'await using'

const IS_FUNCTION = /Function|^(?:Class|MethodDefinition|PropertyDefinition|StaticBlock)/

/** The script, and whether the cell has the syntax of a module. Raises the parser's SyntaxError. */
function toScript(code) {
  const { body } = parse(code, OPTIONS)
  let isModule = body.some(({ type }) => IS_OF_MODULES.test(type))
  const edits = [...hoistedImports(code, body), ...body.flatMap((statement) => withoutModuleSyntax(code, statement))]
  const assigned = new Set()
  walk(body, (node) => {
    edits.push(...withLoader(node))
    isModule ||= node.type === 'MetaProperty' && node.meta.name === 'import'
    if (node.type === 'AssignmentExpression') for (const name of namesOf(node.left)) assigned.add(name)
    if (node.type === 'UpdateExpression') for (const name of namesOf(node.argument)) assigned.add(name)
  })
  const own = body.filter(({ type }) => !IS_FUNCTION.test(type))
  const isOwn = ({ type }) => !IS_FUNCTION.test(type)
  walk(
    own,
    (node) => {
      edits.push(...withHold(node))
      isModule ||= awaits(node)
    },
    isOwn,
  )
  return { script: applied(code, [...edits, ...body.flatMap((statement) => withOneKeyword(statement, assigned))]), isModule }
}

/** Before the first statement, on its line. */
function hoistedImports(code, body) {
  const imports = body.flatMap((statement) => hoistedImport(code, statement))
  const first = body.find((statement) => !statement.directive)
  return imports.length > 0 ? [{ start: first.start, end: first.start, text: `${imports.join(' ')} ` }] : []
}

/** The engine lets a later cell declare a name again with the same keyword; `let` is that for all. A constant that code assigns keeps its error. */
function withOneKeyword(statement, assigned) {
  const { type, kind, start, declarations } = statement.declaration ?? statement
  if (type !== 'VariableDeclaration' || kind !== 'const') return []
  const isAssigned = declarations.some(({ id }) => namesOf(id).some((name) => assigned.has(name)))
  return isAssigned ? [] : [{ start, end: start + 'const'.length, text: 'let' }]
}

/** Static imports exist in modules only. They run before the cell, wherever they are. */
function hoistedImport(code, node) {
  if (node.type === 'ImportDeclaration') return importStatements(code, node)
  if ((node.type === 'ExportNamedDeclaration' || node.type === 'ExportAllDeclaration') && node.source) return [`void (await ${call(code, node)});`]
  return []
}

function importStatements(code, node) {
  const source = call(code, node)
  const lines = []
  const named = []
  for (const { type, imported, local } of node.specifiers) {
    if (type === 'ImportNamespaceSpecifier') lines.push(`let ${local.name} = await ${source};`)
    else named.push([type === 'ImportDefaultSpecifier' ? 'default' : (imported.name ?? imported.value), local.name])
  }
  if (named.length > 0) {
    const names = named.map(([name, local]) => `${JSON.stringify(name)}: ${local}`).join(', ')
    const wanted = JSON.stringify(named.map(([name]) => name))
    lines.push(`let { ${names} } = __exports(await ${source}, ${node.source.raw}, ${wanted});`)
  }
  return lines.length > 0 ? lines : [`void (await ${source});`]
}

function call(code, { source, attributes }) {
  const written = (attributes ?? []).map(({ start, end }) => code.slice(start, end)).join(', ')
  return `__import(${source.raw}${written ? `, { with: { ${written} } }` : ''})`
}

/** Only modules export. Names that a cell exports are variables of the session, and a value without a name is an expression. */
function withoutModuleSyntax(code, node) {
  const { start, end, declaration } = node
  const removed = (to, text = '') => [{ start, end: to, text: text + code.slice(start, to).replace(/[^\n]/g, '') }]
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
      return removed(end, ';')
    case 'ExportNamedDeclaration':
      return declaration ? removed(declaration.start) : removed(end, ';')
    case 'ExportDefaultDeclaration':
      return removed(declaration.start, declaration.id && /Declaration$/.test(declaration.type) ? '' : 'void 0, ')
    default:
      return []
  }
}

/** The engine's evaluation in REPL mode has no loader for `import()`, and a script no `import.meta`. */
function withLoader({ type, start, end, meta, phase }) {
  if (type === 'ImportExpression' && !phase) return [{ start, end: start + 'import'.length, text: '__import' }]
  if (type === 'MetaProperty' && meta.name === 'import') return [{ start, end, text: '__importMeta' }]
  return []
}

/** The session keeps what the cell's own code awaits. */
function withHold({ type, start, end }) {
  if (type !== 'AwaitExpression') return []
  const begin = start + 'await'.length
  return [{ start: begin, end: begin, text: ' __hold(' }, { start: end, end, text: ')' }]
}

/** The variables that a pattern binds or assigns. */
function namesOf(pattern) {
  const found = []
  walk([pattern], (node) => {
    if (node.type === 'Identifier') found.push(node.name)
  })
  return found
}

function walk(nodes, visit, isEntered = () => true) {
  for (const waiting = [...nodes]; waiting.length > 0; ) {
    const node = waiting.pop()
    visit(node)
    for (const value of Object.values(node))
      for (const child of Array.isArray(value) ? value : [value]) if (typeof child?.type === 'string' && isEntered(child)) waiting.push(child)
  }
}

function applied(code, edits) {
  let script = ''
  let at = 0
  for (const { start, end, text } of edits.toSorted((one, other) => one.start - other.start || one.end - other.end)) {
    script += code.slice(at, start) + text
    at = end
  }
  return script + code.slice(at)
}

module.exports = { toScript }
