import { Icon } from './icons.tsx'

/** The links of a side bar to the documents of the server. */
export const DocumentLinks = () => (
  <>
    <a class="plain" href="/docs/guide/">
      <Icon name="book" /> Guide
    </a>
    <a class="plain" href="/docs">
      <Icon name="notebook" /> API reference
    </a>
  </>
)
