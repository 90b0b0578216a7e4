'use strict'
// Lets `fetch` and the agents of http and https follow the variables of a network policy. Node reads them when it starts, and a container can get a policy later.

const fs = require('node:fs')
const http = require('node:http')
const tls = require('node:tls')

const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'NODE_EXTRA_CA_CERTS']
let seen = JSON.stringify(VARIABLES.map(() => undefined))
let restore = () => {}

/** Called in the scope of each cell. What it sets stays for timers and servers that outlive the cell. */
function followProxy() {
  const { HTTP_PROXY, HTTPS_PROXY, NODE_EXTRA_CA_CERTS: authorities } = process.env
  const now = JSON.stringify(VARIABLES.map((name) => process.env[name]))
  if (now === seen || typeof http.setGlobalProxyFromEnv !== 'function') return
  seen = now
  restore()
  restore = () => {}
  if (!HTTP_PROXY && !HTTPS_PROXY) return
  restore = http.setGlobalProxyFromEnv(process.env)
  if (authorities && fs.existsSync(authorities)) tls.setDefaultCACertificates([...tls.getCACertificates('bundled'), fs.readFileSync(authorities, 'utf8')])
}

module.exports = { followProxy }
