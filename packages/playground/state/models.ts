import { computed, effect, signal } from '@preact/signals'
import { call } from '../api/call.ts'
import { LANGUAGES } from './languages.ts'
import { image, language, memory, model } from './preferences.ts'
import { container } from './workspace.ts'

export const models = signal<readonly string[]>([])
/** Models that see no pictures. */
export const blindModels = signal<readonly string[]>([])
export const tiers = signal<readonly string[]>(['1g'])
export const images = signal<readonly string[]>([])
const languagesOfImage = signal<Readonly<Record<string, readonly string[]>>>({})
/** Languages that code can have in the container of the chat, or in the one that it will get. */
export const offeredLanguages = computed(() => {
  const own = container.value === null || container.value === 'gone' ? undefined : container.value.image
  return languagesOfImage.value[own ?? image.value] ?? Object.keys(LANGUAGES)
})
effect(() => {
  if (!offeredLanguages.value.includes(language.value)) language.value = 'python'
})

interface Choices {
  readonly memory_limits: readonly { readonly memory_limit: string }[]
  readonly images: readonly string[]
  readonly languages: Readonly<Record<string, readonly string[]>>
}

interface WireModel {
  readonly id: string
  readonly x_cellblock?: { readonly reads_images: boolean | null }
}

/** Reads what this key may choose. */
export async function loadChoices(): Promise<void> {
  const [list, limits] = await Promise.all([call<{ readonly data: readonly WireModel[] }>('/v1/models'), call<Choices>('/v1/limits')])
  images.value = limits.images
  languagesOfImage.value = limits.languages
  models.value = list.data.map(({ id }) => id)
  blindModels.value = list.data.filter((one) => one.x_cellblock?.reads_images === false).map(({ id }) => id)
  tiers.value = limits.memory_limits.map(({ memory_limit }) => memory_limit)
  const best = models.value.find((name) => name !== 'demo') ?? models.value[0] ?? ''
  // A language model that was connected after a first look with the demo is chosen by itself.
  if (!models.value.includes(model.value) || model.value === 'demo') model.value = best
  if (!tiers.value.includes(memory.value)) memory.value = tiers.value[0] ?? '1g'
  if (!images.value.includes(image.value)) image.value = images.value[0] ?? ''
}
