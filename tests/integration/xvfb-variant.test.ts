import { beforeAll, expect, inject, it } from 'vitest'
import { ensureSandboxImage } from '../../scripts/sandbox-image.ts'
import { inImage } from '../support/in-image.ts'

const DRAW = `python3 -c 'import tkinter; window = tkinter.Tk(); window.update(); print(window.winfo_screenwidth())'`

let variant: string
beforeAll(async () => {
  variant = await ensureSandboxImage((line) => console.error(line), { variant: 'xvfb' })
}, 600_000)

it('gives programs that need a display a virtual one, in the locked sandbox', async () => {
  expect(await inImage(variant, `xvfb-run --auto-servernum --server-args='-screen 0 800x600x24' ${DRAW}`)).toMatchObject({
    code: 0,
    stdout: '800\n',
  })
})

it('is left out of the ordinary image', async () => {
  expect((await inImage(inject('sandboxImage'), 'command -v Xvfb xvfb-run')).stdout).toBe('')
})
