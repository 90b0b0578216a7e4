import { expect, it } from 'vitest'
import { withoutFormulas } from '../../../packages/playground/render/formulas.ts'

const found = (text: string) => withoutFormulas(text).formulas.map(({ text: formula, isDisplay }) => [formula, isDisplay])

it.for([
  ['the mean $\\bar{x}$ is', [['\\bar{x}', false]]],
  [
    '\\(a_1\\) and \\[b^2\\]',
    [
      ['a_1', false],
      ['b^2', true],
    ],
  ],
  ['$$\n\\int_0^1 x\\,dx\n$$', [['\n\\int_0^1 x\\,dx\n', true]]],
  ['it costs $5 and $6', []],
  ['it costs 5$ or \\$x$', []],
  ['`$x$` and ```\n$$y$$\n```', []],
  ['US$5 + $x$', [['x', false]]],
] as const)('finds the formulas of %j', ([text, formulas]) => {
  expect(found(text)).toEqual(formulas)
})

it('leaves a mark of code for each, and the rest as it was', () => {
  const { text, formulas } = withoutFormulas('**a** $x`y$ b')
  expect(text).toBe(`**a** \`${formulas[0]?.mark}\` b`)
})
