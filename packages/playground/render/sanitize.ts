import DOMPurify from 'dompurify'

/** Pictures come from this server or from the text itself: a picture elsewhere would tell that host what the reader sees. */
const isOwnImage = (src: string): boolean => /^data:image\/(?:png|jpeg|gif|webp);base64,/i.test(src) || isOwnPath(src)

function isOwnPath(address: string): boolean {
  try {
    const url = new URL(address, location.href)
    return url.origin === location.origin && url.pathname.startsWith('/d/')
  } catch {
    return false
  }
}

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName === 'IMG' && !isOwnImage(node.getAttribute('src') ?? '')) node.removeAttribute('src')
  if (node.nodeName !== 'A') return
  const href = node.getAttribute('href') ?? ''
  if (!/^(?:https?:|mailto:|#)/i.test(href) && !isOwnPath(href)) node.removeAttribute('href')
  node.setAttribute('target', '_blank')
  node.setAttribute('rel', 'noopener noreferrer nofollow')
})

const FORBIDDEN_TAGS = [
  'style',
  'form',
  'input',
  'button',
  'textarea',
  'select',
  'svg',
  'math',
  'video',
  'audio',
  'picture',
  'source',
  'dialog',
]
const FORBIDDEN_ATTRIBUTES = ['id', 'name', 'srcset', 'ping', 'background', 'poster', 'action', 'formaction']

/** Markup from untrusted text that may enter the document: no scripts, no forms, nothing from other hosts, and no names that shadow the page's. */
export const sanitize = (html: string, options: { readonly allowStyle: boolean }): string =>
  DOMPurify.sanitize(html, {
    RETURN_TRUSTED_TYPE: true,
    FORBID_TAGS: FORBIDDEN_TAGS,
    FORBID_ATTR: options.allowStyle ? FORBIDDEN_ATTRIBUTES : [...FORBIDDEN_ATTRIBUTES, 'style', 'class'],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  }) as unknown as string
