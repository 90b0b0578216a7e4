import { useEffect, useRef, useState } from 'preact/hooks'
import { assetUrl } from '../assets.ts'

/** A formula. Its commands may not load or link anything. */
export function Latex({ text }: { readonly text: string }) {
  const place = useRef<HTMLDivElement>(null)
  const [isDrawn, setDrawn] = useState(false)
  useEffect(() => {
    void import('./katex.ts').then(({ drawFormula }) => {
      if (place.current === null) return
      drawFormula(withoutDollars(text), place.current, { styleUrl: assetUrl('katex') })
      setDrawn(true)
    })
  }, [text])
  return (
    <div class="latex">
      <div ref={place} />
      {!isDrawn && <pre>{text}</pre>}
    </div>
  )
}

const withoutDollars = (text: string): string => {
  const inner = /^\s*(?:\$\$([\s\S]*)\$\$|\$([\s\S]*)\$|\\\[([\s\S]*)\\\])\s*$/.exec(text)
  return inner?.[1] ?? inner?.[2] ?? inner?.[3] ?? text
}
