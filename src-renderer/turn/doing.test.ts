import { describe, expect, it } from 'vitest'
import type { Progress } from '../api/live.ts'
import { de } from '../kit/words/de.ts'
import { en } from '../kit/words/en.ts'
import { doingText } from './doing.ts'

const model = (detail: Pick<Progress, 'detail' | 'detailSaid'>): Progress => ({ activity: 'model', until: null, since: 0, ...detail })

describe('what a job does now', () => {
  it('is thinking, or that the model does not read everything any more, in the language of the page', () => {
    const shortened = model({
      detail: 'Left out of what the model reads now, to save room: 12 older messages.',
      detailSaid: { code: 'job_shortened', facts: { messages: 12 } },
    })
    expect(doingText('running', model({ detail: null }), en)).toBe(en.turn.thinking)
    expect(doingText('running', shortened, en)).toBe('Left out of what the model reads now, to save room: 12 older messages.')
    expect(doingText('running', shortened, de)).toBe('Ältere Nachrichten, die das Modell jetzt nicht liest, um Platz zu sparen: 12.')
    expect(doingText('completed', shortened, en)).toBeNull()
  })
})
