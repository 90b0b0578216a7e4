// Lambda's runtime gives functions that stream a global, and the emulator's does not. It takes a streamed answer as one text: what a function
// says before its body as JSON, eight zero bytes, the body.
const { Writable } = require('node:stream')

globalThis.awslambda = {
  streamifyResponse: (handler) => async (event, context) => {
    const parts = []
    const stream = new Writable({
      write(part, encoding, done) {
        parts.push(Buffer.from(part, encoding))
        done()
      },
    })
    await handler(event, stream, context)
    return Buffer.concat(parts).toString()
  },
  HttpResponseStream: {
    from(stream, head) {
      stream.write(JSON.stringify(head))
      stream.write(Buffer.alloc(8))
      return stream
    },
  },
}
