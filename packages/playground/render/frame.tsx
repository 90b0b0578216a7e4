import { useEffect, useRef, useState } from 'preact/hooks'
import { assetUrl } from '../assets.ts'
import { isDark } from '../state/preferences.ts'

const MIN_HEIGHT = 40
const MAX_HEIGHT = 600

/**
 * Untrusted HTML or a chart in a document with a separate origin: it reads nothing of the page and loads nothing. The page believes only one
 * thing from it, a height within bounds.
 */
export function Frame({
  kind,
  data,
  title,
}: {
  readonly kind: 'html' | 'plotly' | 'vega'
  readonly data: unknown
  readonly title: string
}) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [height, setHeight] = useState(kind === 'html' ? 80 : 380)
  useEffect(() => {
    const onMessage = ({ source, data: message }: MessageEvent<unknown>): void => {
      if (source === null || source !== frame.current?.contentWindow) return
      if (message === 'ready') frame.current.contentWindow.postMessage(data, '*')
      else if (typeof message === 'number' && Number.isFinite(message))
        setHeight(Math.min(MAX_HEIGHT, Math.max(MIN_HEIGHT, Math.ceil(message))))
    }
    addEventListener('message', onMessage)
    return () => removeEventListener('message', onMessage)
  }, [data])
  // Markup sets its own colours, made for white paper; charts follow the theme.
  const hash = kind !== 'html' && isDark.value ? '#dark' : ''
  return (
    <iframe
      key={hash}
      ref={frame}
      class={`frame ${kind}`}
      title={title}
      src={assetUrl(`frame-${kind}`) + hash}
      sandbox="allow-scripts"
      height={height}
      loading="lazy"
    />
  )
}
