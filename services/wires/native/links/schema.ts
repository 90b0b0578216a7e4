import * as z from 'zod'
import { lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { listSchema } from '../../../http/schemas.ts'
import type { Link as LinkRow } from '../../../model/links/link.ts'

export const Link = lazySchema(() =>
  z
    .object({
      id: z.string().openapi({ example: 'link_01kajv9h2s8p0ww3d4dq4cs1zt' }),
      object: z.literal('link'),
      file_id: z.string().nullable(),
      filename: z.string(),
      created_at: z.string(),
      expires_at: z.string(),
      revoked_at: z.string().nullable(),
    })
    .openapi('Link', {
      description: 'A long-lived link. Its address appears once, in the answer for which it was created: only its hash is stored.',
    }),
)
export const LinkList = listSchema(Link, 'LinkList')

export const renderLink = (link: LinkRow): Described<typeof Link> => ({
  id: link.id,
  object: 'link',
  file_id: link.fileId,
  filename: link.target.filename,
  created_at: new Date(link.createdAt).toISOString(),
  expires_at: new Date(link.expiresAt).toISOString(),
  revoked_at: link.revokedAt === null ? null : new Date(link.revokedAt).toISOString(),
})
