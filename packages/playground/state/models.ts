import { signal } from '@preact/signals'
import { call } from '../api/call.ts'
import { image, memory, model } from './preferences.ts'

export const models = signal<readonly string[]>([])
export const tiers = signal<readonly string[]>(['1g'])
export const images = signal<readonly string[]>([])

/** Reads what this key may choose. */
export async function loadChoices(): Promise<void> {
  const [list, limits] = await Promise.all([
    call<{ readonly data: readonly { readonly id: string }[] }>('/v1/models'),
    call<{ readonly memory_limits: readonly { readonly memory_limit: string }[]; readonly images: readonly string[] }>('/v1/limits'),
  ])
  images.value = limits.images
  models.value = list.data.map(({ id }) => id)
  tiers.value = limits.memory_limits.map(({ memory_limit }) => memory_limit)
  const best = models.value.find((name) => name !== 'demo') ?? models.value[0] ?? ''
  // A language model that was connected after a first look with the demo is chosen by itself.
  if (!models.value.includes(model.value) || model.value === 'demo') model.value = best
  if (!tiers.value.includes(memory.value)) memory.value = tiers.value[0] ?? '1g'
  if (!images.value.includes(image.value)) image.value = images.value[0] ?? ''
}
