'use strict'
// Loopback has no IPv6: the library behind 127.0.0.1 keeps the two families apart. A server that listens on `::`, Node's default, gets 0.0.0.0.

const EAFNOSUPPORT = -97

const { TCP } = process.binding('tcp_wrap')
TCP.prototype.bind6 = function (address, port) {
  return address === '::' ? this.bind('0.0.0.0', port) : EAFNOSUPPORT
}
