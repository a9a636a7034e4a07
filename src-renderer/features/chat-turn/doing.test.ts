import { afterEach, describe, expect, it } from 'vitest'
import type { Progress } from '../../api/live.ts'
import { changeLanguage, t } from '../../lib/language.ts'
import { doingText } from './doing.ts'

const model = (detail: Progress['detail']): Progress => ({ activity: 'model', until: null, since: 0, detail })

afterEach(() => changeLanguage('system'))

describe('what a job does now', () => {
  it('is thinking, or leaving out older messages', () => {
    const shortened = model({ code: 'job_shortened', params: { messages: 12 } })
    expect(doingText('running', model(null))).toBe(t('turn.thinking'))
    expect(doingText('running', shortened)).toBe('12 older messages left out to save space')
    expect(doingText('completed', shortened)).toBeNull()
    changeLanguage('de')
    expect(doingText('running', shortened)).toBe('12 ältere Nachrichten weggelassen, um Platz zu sparen')
  })
})
