import { signal } from '@preact/signals'
import { call } from '../api/call.ts'
import { currentChat } from '../state/chat-store.ts'
import { image, memory, model } from '../state/preferences.ts'

const models = signal<readonly string[]>([])
const tiers = signal<readonly string[]>(['1g'])
const images = signal<readonly string[]>([])

/** Reads what this key may choose. */
export async function loadChoices(): Promise<void> {
  const [list, limits] = await Promise.all([
    call<{ readonly data: readonly { readonly id: string }[] }>('/v1/models'),
    call<{ readonly memory_limits: readonly { readonly memory_limit: string }[]; readonly images: readonly string[] }>('/v1/limits'),
  ])
  images.value = limits.images
  models.value = list.data.map(({ id }) => id)
  tiers.value = limits.memory_limits.map(({ memory_limit }) => memory_limit)
  if (!models.value.includes(model.value)) model.value = models.value.find((name) => name !== 'demo') ?? models.value[0] ?? ''
  if (!tiers.value.includes(memory.value)) memory.value = tiers.value[0] ?? '1g'
  if (!images.value.includes(image.value)) image.value = images.value[0] ?? ''
}

export function Pickers({ hasModel }: { readonly hasModel: boolean }) {
  const hasContainer = currentChat.value.containerId !== null
  return (
    <span class="pickers">
      {hasModel && (
        <label>
          <span>Model</span>
          <select value={model.value} onChange={(event) => (model.value = event.currentTarget.value)}>
            {models.value.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label title={hasContainer ? 'The container of this chat has its memory already' : 'Memory of the container'}>
        <span>Memory</span>
        <select value={memory.value} disabled={hasContainer} onChange={(event) => (memory.value = event.currentTarget.value)}>
          {tiers.value.map((name) => (
            <option key={name} value={name}>
              {name.replace('g', ' GB')}
            </option>
          ))}
        </select>
      </label>
      {images.value.length > 1 && (
        <label title={hasContainer ? 'The container of this chat has its image already' : 'Programs and libraries of the container'}>
          <span>Image</span>
          <select value={image.value} disabled={hasContainer} onChange={(event) => (image.value = event.currentTarget.value)}>
            {images.value.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
    </span>
  )
}
