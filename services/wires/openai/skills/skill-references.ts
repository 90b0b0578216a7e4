import * as z from 'zod'
import { boundedList } from '../../../model/bounded-schemas.ts'
import { lazySchema } from '../../../model/lazy-schema.ts'
import { LIMITS } from '../../../model/limits.ts'

const SkillReference = lazySchema(() =>
  z
    .object({
      type: z.literal('skill_reference'),
      skill_id: z.string().max(200),
      version: z
        .string()
        .max(40)
        .nullish()
        .openapi({ description: 'A number or `latest`; the default version without it.', example: 'latest' }),
    })
    .openapi('SkillReference'),
)

const InlineSkill = lazySchema(() =>
  z
    .object({
      type: z.literal('inline'),
      name: z.string().max(64),
      description: z.string().max(4_096),
      source: z.object({
        type: z.literal('base64', 'the only type is "base64"'),
        media_type: z.literal('application/zip', 'the only media type is "application/zip"'),
        data: z.string().openapi({ description: `A zip archive in base64, at most ${LIMITS.maxSkillArchiveBytes} bytes.` }),
      }),
    })
    .openapi('InlineSkill'),
)

/** Skills for a container, as OpenAI's wire names them. */
export const Skills = lazySchema(() =>
  boundedList(z.discriminatedUnion('type', [SkillReference(), InlineSkill()], 'give the type "skill_reference" or "inline"'), {
    max: LIMITS.maxSkillsPerContainer,
  }),
)
