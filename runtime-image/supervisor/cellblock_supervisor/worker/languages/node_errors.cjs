'use strict'
// Completes messages of errors whose cause is that the sandbox has no network, or one that a policy bounds.

const UNREACHABLE = new Set(['EAI_AGAIN', 'ENOTFOUND', 'ENETUNREACH'])
// What `fetch` says when the gateway refuses a host. It drops the sentence of the gateway.
const REFUSED = /Proxy response \(403\)/
const NO_NETWORK = 'This sandbox has no network, so no address can be reached. Upload the data as a file instead.'
const MISSING_MODULES = new Set(['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'])
// A package, not a path.
const MISSING_PACKAGE = /^Cannot find (?:module|package) '((?:@[^/'.]+\/)?[^./'@][^/']*)/
const MAX_CAUSES = 8

/** The error and those that it wraps. */
function causes(error) {
  const found = []
  for (const waiting = [error]; waiting.length > 0 && found.length < MAX_CAUSES; ) {
    const one = waiting.shift()
    if (!(one instanceof Error) || found.includes(one)) continue
    found.push(one)
    waiting.push(one.cause, ...(Array.isArray(one.errors) ? one.errors : []))
  }
  return found
}

function sentence(error) {
  const found = causes(error)
  const { HTTPS_PROXY: proxy, CELLBLOCK_NETWORK: hosts } = process.env
  if (proxy && found.some(({ message }) => REFUSED.test(message)))
    return `The network policy of this container refuses this host. It may reach: ${hosts || 'see its policy'}.`
  if (found.some(({ code }) => UNREACHABLE.has(code)))
    return proxy ? 'This sandbox reaches allowed hosts over HTTP and HTTPS only, through the proxy in HTTPS_PROXY, and this connection did not use it.' : NO_NETWORK
  const [, name] = MISSING_MODULES.has(error.code) ? (MISSING_PACKAGE.exec(error.message) ?? []) : []
  if (name)
    return proxy
      ? `\`${name}\` is not installed. \`npm install ${name}\` installs it if the network policy allows the registry.`
      : `\`${name}\` is not installed and this sandbox has no network, so npm cannot install it.`
  const inner = found.at(-1)?.message
  return error.message === 'fetch failed' && inner ? `The cause: ${inner}` : undefined
}

/** Completes the message of an error, in its stack also; leaves every other value as it is. */
function explain(error) {
  const text = error instanceof Error ? sentence(error) : undefined
  if (text === undefined || error.message.includes(text)) return
  const before = error.message
  const [line, ...rest] = before.split('\n')
  const stack = String(error.stack)
  error.message = [`${line.replace(/\.$/, '')}. ${text}`, ...rest].join('\n')
  error.stack = stack.replace(before, () => error.message)
}

/** The function with explained errors: programs often catch and print them. */
const withExplanation =
  (work) =>
  async (...parameters) => {
    try {
      return await work(...parameters)
    } catch (error) {
      explain(error)
      throw error
    }
  }

/** Where the session's own frames begin, and frames of its functions between those of code. */
const SESSION = /^node:inspector$|node_session\.cjs$/
const BETWEEN = /node_errors\.cjs$/
const fileOf = (frame) => String(frame.getFileName())

/** The symbol that Node's own errors inherit. */
const NODES_OWN = (() => {
  try {
    Buffer.alloc('')
  } catch (error) {
    for (let one = error; one !== null; one = Object.getPrototypeOf(one)) {
      const found = Object.getOwnPropertySymbols(one).find(({ description }) => description === 'kIsNodeError')
      if (found !== undefined) return found
    }
  }
})()

/** Node's own errors have their code in the first line. */
function firstLine(error) {
  try {
    return NODES_OWN !== undefined && NODES_OWN in error ? `${error.name} [${error.code}]: ${error.message}` : Error.prototype.toString.call(error)
  } catch {
    return '<error>'
  }
}

/** The text of `error.stack` without the frames of the session, as a program has it. */
function stackOf(error, frames) {
  const end = frames.findIndex((frame) => SESSION.test(fileOf(frame)))
  const shown = frames.slice(0, end < 0 ? frames.length : end).filter((frame) => !BETWEEN.test(fileOf(frame)))
  return [firstLine(error), ...shown.map((frame) => `    at ${frame}`)].join('\n')
}

module.exports = { explain, stackOf, withExplanation }
