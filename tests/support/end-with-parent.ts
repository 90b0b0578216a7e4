// `node --import` loads this module into a server that a test starts. Its standard input is a pipe from the test's process: the pipe ends with that process,
// also if it is killed, and the server then stops as at SIGTERM, with its sandboxes.
process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM'))
process.stdin.on('error', () => process.kill(process.pid, 'SIGTERM'))
process.stdin.resume()
// Standard input alone does not keep the process running.
if ('unref' in process.stdin && typeof process.stdin.unref === 'function') process.stdin.unref()
