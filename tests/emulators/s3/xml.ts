const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }
const escapeXml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)

/** A tag's content: text, further tags, or a tag that is repeated. Undefined ones are left out. */
export interface XmlTree {
  readonly [tag: string]: string | number | boolean | XmlTree | readonly XmlTree[] | undefined
}

export function renderXml(root: string, tree: XmlTree): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${renderTag(root, tree)}`
}

function renderTag(tag: string, value: XmlTree[string]): string {
  if (value === undefined) return ''
  if (Array.isArray(value)) return value.map((one: XmlTree) => renderTag(tag, one)).join('')
  if (typeof value !== 'object') return `<${tag}>${escapeXml(String(value))}</${tag}>`
  return `<${tag}>${Object.entries(value)
    .map(([name, inner]) => renderTag(name, inner))
    .join('')}</${tag}>`
}

/** The contents of every `<tag>` in a small, flat document such as the SDK sends. */
export function readTags(xml: string, tag: string): readonly string[] {
  return [...xml.matchAll(new RegExp(`<${tag}(?: [^>]*)?>([^]*?)</${tag}>`, 'g'))].map(([, content = '']) => content)
}

/** The text of the first `<tag>`; null when there is none. */
export function readText(xml: string, tag: string): string | null {
  const content = readTags(xml, tag)[0]
  return content === undefined ? null : unescapeXml(content)
}

function unescapeXml(text: string): string {
  return text.replace(/&(#x?[0-9a-f]+|amp|lt|gt|quot|apos);/gi, (entity, name: string) => {
    if (name.startsWith('#')) {
      const code = name[1] === 'x' || name[1] === 'X' ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10)
      return code <= 0x10ffff ? String.fromCodePoint(code) : entity
    }
    return Object.entries(ENTITIES).find(([, known]) => known === entity)?.[0] ?? entity
  })
}
