import { beforeAll, expect, inject, it } from 'vitest'
import { ensureSandboxImage } from '../../scripts/setup/sandbox-image.ts'
import { inImage } from '../support/in-image.ts'

const DRAW = `python3 -c 'import tkinter; window = tkinter.Tk(); window.update(); print(window.winfo_screenwidth())'`

let variant: string
beforeAll(async () => {
  variant = await ensureSandboxImage((line) => console.error(line), { hasDisplay: true })
}, 600_000)

it('provides a virtual display in an isolated sandbox', async () => {
  expect(await inImage(variant, `xvfb-run --auto-servernum --server-args='-screen 0 800x600x24' ${DRAW}`)).toMatchObject({
    code: 0,
    stdout: '800\n',
  })
})

it('is not part of the default image', async () => {
  expect((await inImage(inject('sandboxImage'), 'command -v Xvfb xvfb-run')).stdout).toBe('')
})
