import { expect, it } from 'vitest'
import { parseFile, sampleOf } from '../../programs/parse-programs.ts'

const programs = parseFile('tables', Array.from({ length: 50 }, (_, n) => `# %% program ${n}\nprint(${n})\n`).join(''))
const titles = (sample: ReturnType<typeof sampleOf>): readonly string[] => sample.map(({ title }) => title)

it('a sample is the same in each run, in the order of the programs', () => {
  const sample = sampleOf(programs, 10)
  expect(titles(sampleOf(programs.toReversed(), 10)).toReversed()).toEqual(titles(sample))
  expect(programs.filter((program) => sample.includes(program))).toEqual(sample)
  expect(sample).toHaveLength(10)
  expect(sampleOf(programs, Infinity)).toEqual(programs)
})

it('a program that is added replaces at most one of a sample', () => {
  const before = titles(sampleOf(programs, 10))
  const after = titles(sampleOf([...programs, ...parseFile('tables', '# %% another one\nprint()\n')], 10))
  expect(before.filter((title) => !after.includes(title)).length).toBeLessThanOrEqual(1)
})
