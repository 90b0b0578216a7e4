import { expect, it } from 'vitest'
import { decodeText } from '../../../services/workers/turn/conversation/decode-text.ts'

it.each([
  ['Windows-1252', Buffer.from('Gr\xf6\xdfe;\x80', 'latin1'), 'Größe;€'],
  ['UTF-16 with a mark', Buffer.from('\ufeffGröße', 'utf16le'), 'Größe'],
  ['UTF-16 in the other order', Buffer.from('\ufeffGröße', 'utf16le').swap16(), 'Größe'],
  ['UTF-8 with a mark', Buffer.from('\ufeffGröße'), 'Größe'],
  ['UTF-8', Buffer.from('Größe 😀\r\n\t'), 'Größe 😀\r\n\t'],
  ['no bytes', Buffer.alloc(0), ''],
])('decodes %s', (_name, bytes, text) => expect(decodeText(bytes)).toBe(text))

it.each([
  ['binary data', Buffer.from([0, 1, 2, 3])],
  ['UTF-16 without a mark', Buffer.from('abc', 'utf16le')],
  ['half a character after a mark', Buffer.from([0xff, 0xfe, 0x61])],
  ['terminal sequences', Buffer.from('x\u001b[31m')],
])('takes %s for no text', (_name, bytes) => expect(decodeText(bytes)).toBeNull())
