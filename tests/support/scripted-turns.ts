import type { Tool } from 'openai/resources/responses/responses'
import { say, type ScriptedAnswer, type ScriptedUpstream } from './scripted-upstream.ts'
import type { PlayCode } from './start-worked-api.ts'

export const codeTools: Tool[] = [{ type: 'code_interpreter', container: { type: 'auto' } }]

/** Code that prints that it ran. */
export const ranCode: PlayCode = (code) => ({
  result: {
    stdout: `ran ${code}\n`,
    cells: [{ index: 0, status: 'ok', executionCount: 1, outputs: [{ output_type: 'stream', name: 'stdout', text: `ran ${code}\n` }] }],
  },
})

/** The answers in order; the last one again and again. */
export const playInOrder = (upstream: ScriptedUpstream, answers: readonly ScriptedAnswer[]): void =>
  upstream.play((_, turn) => answers[Math.min(turn, answers.length - 1)] ?? say(''))
