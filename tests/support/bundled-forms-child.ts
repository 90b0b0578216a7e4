// Bundled like a function, then started with a zip archive in base64. Reads it as a skill, and a form with a file, and prints what it got.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { receiveMultipart } from '../../services/http/receive-multipart.ts'
import { receiveSkill } from '../../services/wires/openai/skills/receive-skill.ts'
import { createFileObjectStore } from '../../services/adapters/storage/files/file-object-store.ts'
import { openObjectFolder } from '../../services/adapters/storage/files/object-folder.ts'

const post = (part: string, file: File): Request => {
  const form = new FormData()
  form.append(part, file)
  return new Request('http://api/', { method: 'POST', body: form })
}
const folder = await mkdtemp(join(tmpdir(), 'cellblock-bundled-forms-'))
try {
  const archive = new Uint8Array(Buffer.from(process.argv[2] ?? '', 'base64'))
  const { skill } = await receiveSkill(post('files', new File([archive], 'skill.zip')))
  const objects = createFileObjectStore({ folder: await openObjectFolder(folder, { isDurable: false }), secret: new Uint8Array(32) })
  const rules = { maxBytes: 1_000, part: 'file', advice: '' }
  const { file } = await receiveMultipart(objects, post('file', new File(['hello'], 'notes.txt')), { objectKey: 'tenants/a/b', rules })
  const stored = await objects.get('tenants/a/b')
  console.log(
    JSON.stringify({
      skill: skill.name,
      file: { filename: file?.filename, bytes: file?.bytes },
      stored: stored && (await text(stored.body)),
    }),
  )
} finally {
  await rm(folder, { recursive: true, force: true })
}
process.exit(0)
