import { describe, expect, it } from 'vitest'
import { createInstallConsent } from '../../../scripts/setup/install-consent.ts'

const consent = (answer: string, isTerminal = true) => {
  const questions: string[] = []
  const ask = async (question: string): Promise<string> => {
    questions.push(question)
    return answer
  }
  return { questions, ...createInstallConsent({ isTerminal, ask }) }
}

describe('createInstallConsent', () => {
  it.each(['', 'y', 'Yes'])('lists the packages, asks once and takes the answer %j for yes', async (answer) => {
    const { questions, confirm } = consent(answer)
    await confirm(['docker.io'])
    await confirm(['mmdebstrap'])
    expect(questions).toEqual([expect.stringContaining('docker.io')])
  })

  it('throws if the user refuses', async () => {
    await expect(consent('n').confirm(['docker.io'])).rejects.toThrow('Not installed: docker.io.')
  })

  it('does not ask without a terminal', async () => {
    const { questions, confirm } = consent('n', false)
    await confirm(['docker.io'])
    expect(questions).toEqual([])
  })

  it('does not ask with --install', async () => {
    const { questions, confirm, grant } = consent('n')
    grant()
    await confirm(['docker.io'])
    expect(questions).toEqual([])
  })
})
