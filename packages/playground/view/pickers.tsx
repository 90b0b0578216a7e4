import type { Signal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { currentChat } from '../state/chats.ts'
import { images, models, tiers } from '../state/models.ts'
import { image, memory, model } from '../state/preferences.ts'
import { Icon } from '../render/icons.tsx'

interface Choice {
  readonly label: string
  readonly value: Signal<string>
  readonly names: readonly string[]
  readonly isDisabled?: boolean
  readonly textOf?: (name: string) => string
}

const Picker = ({ label, value, names, isDisabled = false, textOf = (name) => name }: Choice) => (
  <label class="picker">
    <span>{label}</span>
    <select value={value.value} disabled={isDisabled} onChange={(event) => (value.value = event.currentTarget.value)}>
      {names.map((name) => (
        <option key={name} value={name}>
          {textOf(name)}
        </option>
      ))}
    </select>
  </label>
)

export const ModelPicker = () => <Picker label="Model" value={model} names={models.value} />

/** Memory and image of the container that the first message makes. */
export function SandboxSettings() {
  const id = useId()
  const hasContainer = currentChat.value.containerId !== null
  return (
    <>
      <button type="button" class="icon-button" popovertarget={id} title="Sandbox settings">
        <Icon name="settings" />
        <span class="hidden">Sandbox settings</span>
      </button>
      <div id={id} popover="auto" class="menu sandbox-settings" role="group" aria-label="Sandbox settings">
        <Picker label="Memory" value={memory} names={tiers.value} isDisabled={hasContainer} textOf={(name) => name.replace('g', ' GB')} />
        {images.value.length > 1 && <Picker label="Image" value={image} names={images.value} isDisabled={hasContainer} />}
        <small>{hasContainer ? 'The container of this chat has these already.' : 'For the container of this chat.'}</small>
      </div>
    </>
  )
}
