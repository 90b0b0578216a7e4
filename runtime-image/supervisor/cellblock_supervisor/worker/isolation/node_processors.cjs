'use strict'
// Programs count the processors that the sandbox may use, not those of the host.

const os = require('node:os')

const limit = Number(process.env.PYTHON_CPU_COUNT)
if (limit > 0) {
  const { cpus, availableParallelism } = os
  os.cpus = () => cpus().slice(0, limit)
  os.availableParallelism = () => Math.min(availableParallelism(), limit)
  require('node:module').syncBuiltinESMExports()
}
