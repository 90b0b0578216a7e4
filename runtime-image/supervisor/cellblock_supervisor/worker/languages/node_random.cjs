'use strict'
// Random numbers of a session whose process was copied with its sandbox. The states of V8 and OpenSSL cannot be set, so the functions draw from the system.

const crypto = require('node:crypto')
const fs = require('node:fs')
const { syncBuiltinESMExports } = require('node:module')

const POOL_BYTES = 8192
const pool = Buffer.alloc(POOL_BYTES)
let used = POOL_BYTES
let source

function fill(bytes) {
  source ??= fs.openSync('/dev/urandom', 'r')
  for (let at = 0; at < bytes.length; ) at += fs.readSync(source, bytes, at, bytes.length - at, null)
  return bytes
}

/** A number of 53 random bits from 0 to below 1. */
function fraction() {
  if (used === POOL_BYTES) {
    fill(pool)
    used = 0
  }
  const number = (pool.readUInt32LE(used) >>> 5) * 2 ** 26 + (pool.readUInt32LE(used + 4) >>> 6)
  used += 8
  return number / 2 ** 53
}

const later = (callback, value) => (typeof callback === 'function' ? void setImmediate(callback, null, value) : value)
const bytesOf = (view) => Buffer.from(view.buffer ?? view, view.byteOffset ?? 0, view.byteLength)

function randomFillSync(view, offset = 0, size = undefined) {
  const unit = view.BYTES_PER_ELEMENT ?? 1
  fill(bytesOf(view).subarray(offset * unit, size === undefined ? undefined : (offset + size) * unit))
  return view
}

function randomInt(min, max, callback) {
  if (max === undefined || typeof max === 'function') return randomInt(0, min, max)
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || max <= min) throw new RangeError('Give whole numbers, the larger one last.')
  const range = max - min
  const limit = 2 ** 48 - (2 ** 48 % range)
  let number
  do number = fill(Buffer.alloc(6)).readUIntLE(0, 6)
  while (number >= limit)
  return later(callback, min + (number % range))
}

function randomUUID() {
  const bytes = fill(Buffer.alloc(16))
  bytes[6] = (bytes[6] & 0x0f) | 0x40
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const replaced = {
  randomBytes: (size, callback) => later(callback, fill(Buffer.alloc(size))),
  randomFillSync,
  randomFill: (view, ...rest) => later(rest.at(-1), randomFillSync(view, ...rest.slice(0, -1))),
  randomInt,
  randomUUID,
  getRandomValues: (view) => randomFillSync(view),
}

/** Takes effect from the next call on, also of modules that were imported before. */
function renewRandom() {
  used = POOL_BYTES
  Math.random = fraction
  for (const [name, value] of Object.entries(replaced))
    for (const target of [crypto, crypto.webcrypto])
      if (name in target && Object.getOwnPropertyDescriptor(target, name)?.configurable !== false)
        Object.defineProperty(target, name, { value, configurable: true, writable: true })
  syncBuiltinESMExports()
  return { result: null }
}

module.exports = { renewRandom }
