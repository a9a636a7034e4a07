import { inEnglish as t, quote } from '../../lib/messages.ts'
import { describe, expect, it } from 'vitest'
import { approvalText, confirmationText, exhaustedText, linkText, replyText, type AskedApproval } from './message-texts.ts'

const ended = { status: 'completed' as const, agentName: 'Ada', title: 'News', result: 'All is well.', errorMessage: null }
const LINK = linkText(t, null, { path: '/jobs/1', screen: 'activity' })

const approval: AskedApproval = {
  id: '01a1f82f-1e80-710a-a787-05cb38bdde1f',
  kind: 'tool',
  agentName: 'Ada',
  jobTitle: 'News',
  reason: '',
  facts: {
    tool: 'send',
    effect: 'once',
    subject: '',
    summary: 'Send it',
    paths: [],
    leavesMachine: true,
    costsMoney: false,
    deletes: false,
    overwrites: false,
    runsCode: false,
  },
  args: {},
  taints: { untrusted: null, private: null, outside: null },
  decision: null,
  question: null,
  tool: 'send',
  budget: null,
  createdAt: 0,
  expiresAt: 24 * 3_600_000,
}

describe('an answer', () => {
  it('is what the agent said, as it said it', () => {
    expect(replyText(t, { ...ended, result: '**Yes** _really_' }, true)).toBe('**Yes** _really_')
  })

  it('is never empty', () => {
    for (const result of [null, '', ' \n']) expect(replyText(t, { ...ended, result }, true)).toMatch(/^Done\./)
  })

  it('keeps what was said before it failed or was stopped, and says so below', () => {
    const failed = { ...ended, status: 'failed' as const, result: 'So far:', errorMessage: quote('The key *x* was refused.') }
    expect(replyText(t, failed, true)).toBe('So far:\n\n_I could not finish this. The key \\*x\\* was refused._')
    expect(replyText(t, { ...failed, status: 'cancelled' }, true)).toBe('So far:\n\n_This was stopped before it was finished._')
    expect(replyText(t, { ...failed, result: null }, false)).toBe('I could not finish this.')
  })
})

describe('an approval', () => {
  it('writes out what cannot be seen in the call', () => {
    const text = approvalText(t, { ...approval, args: { path: 'a\u3164\u034f\u2800.md', mark: '✔️' } }, LINK)
    expect(text).toContain('path: a\\u{3164}\\u{34f}\\u{2800}.md\nmark: ✔️')
  })

  it('names a letter that looks like another one, and the real name of a host', () => {
    const text = approvalText(t, { ...approval, args: { url: 'https://\u0430pple.com/', path: 'Docum\u0435nts/a' } }, LINK)
    expect(text).toContain('⚠️ The host “\u0430pple.com” is really xn--pple-43d.com.')
    expect(text).toContain('⚠️ In “Docum\u0435nts”, “\u0435” (U+0435) is not the letter that it looks like.')
  })

  it('keeps the words of others in their quotation and on their line, in the direction of ours', () => {
    const reason = 'It is needed.\u2028\u202eDeckhand has checked this.'
    const text = approvalText(t, { ...approval, reason, jobTitle: 'News\u2028\u202eDeckhand says yes' }, LINK)
    expect(text).toContain('> It is needed.\n> Deckhand has checked this.')
    expect(text).toContain('News Deckhand says yes')
  })
})

describe('a note', () => {
  it('shows names as they are, on one line, whatever is in them', () => {
    const text = confirmationText(t, { ...ended, agentName: '**A**\n[x](https://evil.example)' }, '`y`', LINK)
    expect(text.split('\n')[0]).toBe('✅ **\\*\\*A\\*\\* \\[x\\](https://evil.example)** finished “\\`y\\`”.')
  })

  it('shows the first lines of a long result, and says that there is more', () => {
    const lines = Array.from({ length: 40 }, (_, i) => `Line ${i + 1}`)
    const [, shown] = confirmationText(t, { ...ended, result: lines.join('\n') }, 'x', LINK).split('\n\n')
    expect(shown!.split('\n')).toEqual([...lines.slice(0, 8), '…'])
    const long = confirmationText(t, { ...ended, result: 'é'.repeat(5000) }, 'x', LINK).split('\n\n')[1]!
    expect([...long]).toHaveLength(600)
    expect(long.endsWith('…')).toBe(true)
  })

  it('never cuts a character in two', () => {
    const text = confirmationText(t, { ...ended, result: '👩‍🚀'.repeat(400) }, 'x', LINK)
    expect(text.isWellFormed()).toBe(true)
  })

  it('closes a block of code that it cut open', () => {
    const code = ['```ts', ...Array.from({ length: 30 }, (_, i) => `f(${i})`), '```'].join('\n')
    const text = confirmationText(t, { ...ended, result: code }, 'x', LINK)
    expect(text.match(/^```/gm)).toHaveLength(2)
    expect(text.endsWith(LINK)).toBe(true)
  })

  it('leads to where the dashboard is, where that can be reached', () => {
    expect(linkText(t, 'https://deck.example', { path: '/jobs/1', screen: 'activity' })).toBe('Details: https://deck.example/jobs/1')
    expect(LINK).toBe('Details: open Deckhand on your computer, under Activity.')
  })

  it('says of a spent budget how much it was', () => {
    expect(exhaustedText(t, { name: 'Prices', agentName: 'Ada', dailyBudgetUsd: 2.5 }, LINK)).toContain('daily spending limit of $2.50.')
  })
})

describe('a question', () => {
  it('shows the facts letter by letter, and lets nothing out of them', () => {
    const summary = 'Run ```\n**Approved already.**\n````\n[x](https://evil.example)'
    const text = approvalText(t, { ...approval, facts: { ...approval.facts!, summary } }, LINK)
    expect(text).toContain(`\`\`\`\`\`\n${summary}\n\`\`\`\`\``)
  })

  it('shows why the agent wants it as its words, and not as ours', () => {
    const text = approvalText(t, { ...approval, reason: 'It is needed.\n\n**Deckhand**: this is safe.' }, LINK)
    expect(text).toContain('It says: \n> It is needed.\n> \n> \\*\\*Deckhand\\*\\*: this is safe.')
  })

  it('shows the words of a server as its own', () => {
    const question = { text: '**Deckhand** needs your city.', choices: [], server: 'Hub', url: 'https://a.example/`x`' }
    const text = approvalText(t, { ...approval, kind: 'question', question }, LINK)
    expect(text).toContain('is waiting because the MCP server “Hub” asks a question. These are its words. Never give it passwords')
    expect(text).toContain('> \\*\\*Deckhand\\*\\* needs your city.')
    expect(text).toContain('Your next message does not answer it.')
  })

  it('says how each kind is answered', () => {
    const question = { text: 'Which one?', choices: ['a', 'b'] }
    expect(approvalText(t, approval, LINK)).toMatch(
      /Tap a button, or write `approve \w{4}` or `reject \w{4}`\. Without an answer, this is rejected in 24 hours\./,
    )
    expect(approvalText(t, { ...approval, kind: 'question', question }, LINK)).toMatch(
      /Which one\?[^]*Tap an answer, or write `answer \w{4}` and your own\./,
    )
    expect(approvalText(t, { ...approval, kind: 'question', question: { ...question, choices: [] } }, LINK)).toMatch(
      /Write `answer \w{4}` and your answer\./,
    )
    // Without buttons nothing can be tapped, and the choices stand in the text.
    expect(approvalText(t, approval, LINK, false)).toMatch(/\n\nWrite `approve \w{4}` or `reject \w{4}`\. Without an answer/)
    const asked = approvalText(t, { ...approval, kind: 'question', question }, LINK, false)
    expect(asked).toMatch(/1\. a\n2\. b[^]*Write `answer \w{4}` and your answer\./)
    expect(asked).not.toContain('Tap')
    const budget = { scope: 'agent_day', limitUsd: 5, spentUsd: 4.2, extensionUsd: 5 } as const
    expect(approvalText(t, { ...approval, kind: 'budget', budget }, LINK)).toContain(
      'It has spent $4.20 of $5.00 for this agent today, and the next step may cost more. Add $5.00?',
    )
    expect(approvalText(t, { ...approval, kind: 'unknown_outcome' }, LINK)).toContain('broke off. Did this happen?')
  })
})
