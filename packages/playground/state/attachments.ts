import { signal } from '@preact/signals'
import { messageOf } from '../api/call.ts'
import { uploadFile } from '../api/upload.ts'
import { currentChat, ensureChat } from './chats.ts'
import { pictureOf } from './picture.ts'
import type { MessageFile } from './timeline.ts'
import { ensureContainer, refreshFiles, withReplacements } from './workspace.ts'

/** A file beside the message that is being written. */
export interface Attachment extends MessageFile {
  readonly key: string
  readonly bytes: number
  /** 0 to 1; 1 is uploaded. */
  readonly share: number
  readonly failure: string | null
  readonly cancel: () => void
}

export const attachments = signal<readonly Attachment[]>([])
let lastUpload = Promise.resolve()

/** Resolves when no upload is under way, so that code finds the files that were added before it. */
export const uploadsEnd = (): Promise<void> => lastUpload

const change = (key: string, part: Partial<Attachment>): void => {
  attachments.value = attachments.value.map((one) => (one.key === key ? { ...one, ...part } : one))
}

/** Removes a file from the message and stops its upload; one that was uploaded stays in the container. */
export function dropAttachment({ key, cancel }: Attachment): void {
  cancel()
  attachments.value = attachments.value.filter((one) => one.key !== key)
}

/** Takes the files for a message that is sent now. Those that failed stay in view. */
export function takeAttachments(): readonly Attachment[] {
  const taken = attachments.value.filter(({ failure }) => failure === null)
  attachments.value = attachments.value.filter(({ failure }) => failure !== null)
  return taken
}

/** Uploads files one after another into the container of the current chat. */
export function uploadAll(given: readonly File[]): Promise<void> {
  const chat = currentChat.value
  const added = given.map((file) => {
    const stopping = new AbortController()
    const key = crypto.randomUUID()
    const attachment: Attachment = {
      key,
      name: file.name,
      bytes: file.size,
      share: 0,
      failure: null,
      picture: null,
      cancel: () => stopping.abort(),
    }
    return { file, attachment, signal: stopping.signal }
  })
  attachments.value = [...attachments.value, ...added.map(({ attachment }) => attachment)]
  for (const { file, attachment } of added) void pictureOf(file).then((picture) => picture !== null && change(attachment.key, { picture }))
  lastUpload = lastUpload.then(async () => {
    for (const { file, attachment, signal } of added) {
      if (signal.aborted) continue
      try {
        const progress = { signal, onProgress: (share: number) => change(attachment.key, { share: Math.min(share, 0.99) }) }
        await withReplacements(chat, async () => {
          await ensureChat(chat)
          await uploadFile(await ensureContainer(chat), file, progress)
        })
        change(attachment.key, { share: 1 })
      } catch (error) {
        if (!signal.aborted) change(attachment.key, { failure: failureOf(error) })
      }
      await refreshFiles()
    }
  })
  return lastUpload
}

/** The browser fails in the same way for a file that it cannot read and for a server that it cannot reach. */
const failureOf = (error: unknown): string =>
  error instanceof TypeError
    ? 'Not uploaded: the file was changed or moved meanwhile, or the server does not answer. Add it again.'
    : messageOf(error)
