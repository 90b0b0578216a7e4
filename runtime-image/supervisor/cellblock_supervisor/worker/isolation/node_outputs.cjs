'use strict'
// Node makes its output non-blocking. Each program opens the pipe behind it again, so that others that write to the same pipe are not affected.

const fs = require('node:fs')
const { isMainThread } = require('node:worker_threads')

function reopen(number) {
  try {
    if (!fs.fstatSync(number).isFIFO()) return
    const other = fs.openSync(`/proc/self/fd/${number}`, 'w')
    // The lowest free number is the one that was closed.
    fs.closeSync(number)
    fs.openSync(`/proc/self/fd/${other}`, 'w')
    fs.closeSync(other)
  } catch {
    // A system that refuses it: the program shares the pipe as it is.
  }
}

if (isMainThread) for (const number of [1, 2]) reopen(number)
