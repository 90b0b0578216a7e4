import { describe, expect, it } from 'vitest'
import { mimeOf } from '../../../services/model/files/mime.ts'

describe('mimeOf', () => {
  it.each([
    ['a.csv', 'text/csv'],
    ['plots/B.PNG', 'image/png'],
    ['archive.tar.gz', 'application/gzip'],
    ['module.js', 'text/javascript'],
    ['module.mjs', 'text/javascript'],
    ['rows.jsonl', 'application/jsonl'],
    ['rows.ndjson', 'application/x-ndjson'],
    ['table.ods', 'application/vnd.oasis.opendocument.spreadsheet'],
    ['sound.ogg', 'audio/ogg'],
    ['sound.flac', 'audio/flac'],
    ['picture.avif', 'image/avif'],
    ['favicon.ico', 'image/vnd.microsoft.icon'],
    ['figure.eps', 'application/postscript'],
    ['scan.jp2', 'image/jp2'],
    ['archive.tgz', 'application/gzip'],
    ['archive.tar.bz2', 'application/x-bzip2'],
    ['archive.tar.xz', 'application/x-xz'],
    ['rows.db', 'application/vnd.sqlite3'],
    ['rows.sqlite', 'application/vnd.sqlite3'],
    ['cube.h5', 'application/x-hdf5'],
    ['cube.nc', 'application/x-netcdf'],
    ['arrays.npz', 'application/octet-stream'],
    ['table.feather', 'application/vnd.apache.arrow.file'],
    ['table.parquet', 'application/vnd.apache.parquet'],
    ['survey.dta', 'application/x-stata-dta'],
    ['a', 'application/octet-stream'],
    ['a.', 'application/octet-stream'],
  ])('maps %s to %s', (path, mime) => expect(mimeOf(path)).toBe(mime))

  it.each(Object.getOwnPropertyNames(Object.prototype))('maps a file named %s to application/octet-stream', (name) => {
    expect(mimeOf(name)).toBe('application/octet-stream')
    expect(mimeOf(`a.${name}`)).toBe('application/octet-stream')
  })
})
