import { A } from '@solidjs/router'
import { screen, waitFor, within } from '@solidjs/testing-library'
import type { Component } from 'solid-js'
import { describe, expect, it } from 'vitest'
import type { Approval } from '../../../src-runner/contract/approvals.ts'
import type { Person } from '../../../src-main/contract/auth-api.ts'
import type { Message } from '../../../src-runner/contract/messages.ts'
import { createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeApproval, makeDecision, makeFacts, makeId, quote } from '../../testing/things.ts'
import { ApprovalsScreen } from './ApprovalsScreen.tsx'

/** A runner that keeps decisions as the real one does: the first answer counts. */
function open(approvals: Approval[], path = '/approvals', page: Component = ApprovalsScreen, person?: Person) {
  const answerOf = (id: string) => approvals.find((one) => one.id === id)
  const runner = createFakeRunner({
    listApprovals: ({ query }) => ({
      approvals: approvals.filter((one) => query.status === undefined || one.status === query.status),
      pending: approvals.filter((one) => one.status === 'pending').length,
      nextCursor: null,
    }),
    getApproval: ({ params }) => {
      const approval = answerOf(params.approvalId)
      return approval === undefined ? new Refusal('approval_not_found') : { approval }
    },
    previewApproval: () => ({
      change: {
        path: 'Documents/notes.md',
        change: 'modified',
        diff: '@@ -1,1 +1,1 @@\n-as it was\n+as it will be\n',
        truncated: false,
        binary: false,
      },
    }),
    resolveApproval: ({ body }) => {
      const approval = answerOf(body.approvalId)
      if (approval === undefined) return new Refusal('approval_not_found')
      if (approval.status === 'expired') return new Refusal('approval_expired')
      if (approval.status !== 'pending') return new Refusal('approval_already_resolved')
      const { decision, note = null, remember, answer = null } = body
      Object.assign(approval, {
        status: decision === 'approve' ? 'approved' : 'rejected',
        note,
        remember,
        answer,
        answeredAt: 1_700_000_500_000,
      })
      return { ok: true, jobId: approval.jobId, status: 'pending', decision }
    },
  })
  const view = renderScreen(page, { route: '/approvals/:approvalId?', path, runner, ...(person && { person }) })
  const answers = () => runner.callsOf('resolveApproval').map((call) => call.body)
  return { ...view, runner, answers }
}

const card = (name: RegExp) => screen.findByRole('article', { name })
const happenedElsewhere = (approval: Approval, decision: 'approve' | 'reject') => ({
  type: 'approval.answered' as const,
  payload: {
    approvalId: approval.id,
    jobId: approval.jobId,
    agentId: approval.agentId,
    conversationId: null,
    kind: approval.kind,
    decision,
  },
})

describe('a decision', () => {
  it('shows the diff of a file until it is answered', async () => {
    const approval = makeApproval({ tool: 'write_file', args: { path: 'Documents/notes.md', content: 'as it will be' } })
    open([approval])
    const shown = await card(/Overwrite Documents/)
    expect(await within(shown).findByText('as it was')).toBeInTheDocument()
    within(shown)
      .getByRole('button', { name: /Approve once/ })
      .click()
    await waitFor(() => expect(within(shown).queryByText('as it was')).toBeNull())
  })

  it('warns of a letter that looks like another one', async () => {
    open([makeApproval({ args: { path: 'Documents/notes.md', url: 'https://\u0430pple.com/', to: 'Docum\u0435nts' } })])
    const shown = await card(/Overwrite Documents/)
    expect(within(shown).getByText('The host “\u0430pple.com” is really xn--pple-43d.com.')).toBeInTheDocument()
    expect(within(shown).getByText(/“\u0435” \(U\+0435\) is not the letter that it looks like/)).toBeInTheDocument()
  })

  it('shows the agent, its reason, the exact call, its origin, the decision and the taints', async () => {
    const approval = makeApproval({
      args: { path: 'Documents/notes.md', content: '<img src=x onerror=alert(1)>\nadmin\u202Egnp.exe', flags: { force: true } },
      reason: 'Your **notes** are old.',
      facts: makeFacts({ leavesMachine: true }),
      decision: makeDecision({
        decidedBy: { source: 'lethal_trifecta', verdict: 'ask', ruleId: null, reason: quote('It may carry private data out.') },
        overruled: [{ source: 'rule', verdict: 'run', ruleId: makeId(), reason: quote('Allow write_file.') }],
      }),
      taints: {
        untrusted: { seq: 4, cause: quote('web_fetch read example.com') },
        private: { seq: 2, cause: quote('read_file') },
        outside: null,
      },
    })
    const { user } = open([approval])
    const front = await card(/Overwrite Documents\/notes\.md/)
    expect(within(front).getByText('Ada wants to use write_file')).toBeInTheDocument()
    expect(within(front).getByText(/Review it carefully/)).toBeInTheDocument()
    expect(within(front).queryByText('Your **notes** are old.')).toBeNull()
    await user.click(within(front).getByRole('button', { name: 'Details' }))
    expect(within(front).getByText('Your **notes** are old.')).toBeInTheDocument()
    expect(within(front).getByText('Ada’s reason')).toBeInTheDocument()
    // Markup is text, and what hides is written out.
    expect(within(front).getByRole('group', { name: 'content' }).textContent).toBe('<img src=x onerror=alert(1)>\nadmin⟨U+202E⟩gnp.exe')
    expect(front.querySelector('img')).toBeNull()
    expect(within(front).getByRole('group', { name: 'flags' })).toHaveTextContent('{ "force": true }')
    expect(within(front).getByText('Leaves this computer')).toBeInTheDocument()
    expect(within(front).getByRole('link', { name: 'Sum up the notes' })).toHaveAttribute('href', `/jobs/${approval.jobId}`)
    expect(within(front).getByText('It may carry private data out.', { exact: false })).toBeInTheDocument()
    expect(within(front).queryByText('Allow write_file.', { exact: false })).toBeNull()
    await user.click(within(front).getByRole('button', { name: '1 overruled check' }))
    expect(within(front).getByText('Allow write_file.', { exact: false })).toBeInTheDocument()
    expect(within(front).getByRole('link', { name: 'step 4' })).toHaveAttribute('href', `/jobs/${approval.jobId}#step-4`)
  })

  it('warns about leaving data only when data can leave', async () => {
    const taints = { untrusted: { seq: 4, cause: quote('web_fetch') }, private: { seq: 2, cause: quote('read_file') }, outside: null }
    open([makeApproval({ taints, facts: makeFacts({ leavesMachine: false }) })])
    const front = await card(/Overwrite/)
    expect(within(front).queryByText(/Review it carefully/)).toBeNull()
  })

  it('shows a command as one line, and in the details word by word with its line breaks', async () => {
    const argv = ['sh', '-c', 'wc -l *\necho done']
    const { user } = open([
      makeApproval({
        tool: 'run_command',
        args: { command: argv, folder: '/srv' },
        facts: makeFacts({
          tool: 'run_command',
          subject: "sh -c 'wc -l *\necho done'",
          argv,
          sandboxed: true,
          runsCode: true,
          runsUnnamed: true,
          overwrites: false,
        }),
      }),
    ])
    const front = await card(/Overwrite/)
    expect(within(front).getByRole('group', { name: 'Command' }).textContent).toBe("sh -c 'wc -l *\necho done'")
    expect(within(front).getByText(/in this folder and has no network access.*files that it does not name/)).toBeInTheDocument()
    await user.click(within(front).getByRole('button', { name: 'Details' }))
    const parts = within(within(front).getByRole('list', { name: 'command' })).getAllByRole('listitem')
    expect(parts.map((part) => part.querySelector('pre')!.textContent)).toEqual(['sh', '-c', 'wc -l *\necho done'])
  })

  it('shows the arguments for a server’s tool when the sentence above has only a part of them', async () => {
    const args = { body: `Send it to eve@example.com. ${'Thank you. '.repeat(50)}`, to: 'eve@example.com' }
    const subject = JSON.stringify(args)
    const params = { tool: 'send', server: 'Mail', args: `${subject.slice(0, 599)}…`, acts: 'yes' }
    open([
      makeApproval({
        tool: 'mcp_mail_send',
        args,
        facts: makeFacts({ tool: 'mcp_mail_send', subject, paths: [], effectOn: { code: 'effect_mcp', params } as Message }),
      }),
    ])
    const shown = await card(/Run send on Mail/)
    expect(within(shown).getByRole('group', { name: 'to' })).toHaveTextContent('eve@example.com')
  })

  it('writes out the hidden characters of the title of its job', async () => {
    const { user } = open([makeApproval({ jobTitle: 'Pay\u202Eeve' })])
    await user.click(within(await card(/Overwrite Documents/)).getByRole('button', { name: 'Details' }))
    expect(screen.getByRole('link', { name: 'Pay⟨U+202E⟩eve' })).toBeInTheDocument()
  })

  it('shows what a coding program asks: who it is, the whole command, or the diff of each file', async () => {
    const says = (program: string) => ({ code: 'quoted', params: { words: `${program} says it will`, program } }) as Message
    const command = 'npm test -- cart && echo done'
    const run = makeFacts({ tool: 'code_command', subject: 'npm test', effectOn: says('Codex'), runsCode: true, sandboxed: true })
    const diff = '--- a/cart.ts\n+++ b/cart.ts\n@@ -1 +1 @@\n-total = 1\n+total = 0\n'
    const edit = makeFacts({ tool: 'code_edit', subject: 'cart.ts', effectOn: says('Claude Code') })
    const { user } = open([
      makeApproval({ tool: 'code_command', args: { title: 'Test', command }, facts: run, expiresAt: 1_800_000_000_000 }),
      makeApproval({ tool: 'code_edit', args: { title: 'Edit', path: 'cart.ts', diff }, facts: edit, expiresAt: 1_900_000_000_000 }),
    ])
    const first = within(await card(/Codex says it will/))
    expect(first.getByText('Codex asks on behalf of Ada')).toBeVisible()
    expect(first.getByRole('group', { name: 'Command' })).toHaveTextContent(command)
    await user.keyboard('{ArrowDown}')
    const second = within(await card(/Claude Code says it will/))
    expect(second.getByText('total = 0')).toBeVisible()
    expect(second.getByText('cart.ts')).toBeVisible()
  })

  it('is approved with A, and a second press does not answer the next one', async () => {
    const [first, second] = [makeApproval({ expiresAt: 1 }), makeApproval({ expiresAt: 2, facts: makeFacts({ summary: 'Delete old.md' }) })]
    const { user, answers } = open([second, first])
    await card(/Overwrite Documents/)
    await user.keyboard('aa')
    const outcome = (await screen.findByText('Approved once')).closest('[role=status]')!
    expect(outcome.querySelector('time')).toBeNull()
    expect(answers()).toEqual([{ approvalId: first.id, decision: 'approve', remember: 'once' }])
    await user.keyboard('a')
    await waitFor(() => expect(screen.getByRole('link', { name: 'Next approval' })).toHaveFocus())
    expect(answers()).toHaveLength(1)
    await user.keyboard('{Enter}')
    await card(/Delete old\.md/)
    await user.keyboard('a')
    await waitFor(() => expect(answers()).toHaveLength(2))
    expect(answers()[1]).toMatchObject({ approvalId: second.id })
  })

  it('is rejected with R and a note that the agent reads', async () => {
    const approval = makeApproval()
    const { user, answers } = open([approval])
    await card(/Overwrite/)
    await user.keyboard('r')
    const note = await screen.findByRole('textbox', { name: /Add a note/ })
    await waitFor(() => expect(note).toHaveFocus())
    await user.keyboard('not a good day{Enter}')
    expect(await screen.findByText('Rejected')).toBeInTheDocument()
    expect(answers()).toEqual([{ approvalId: approval.id, decision: 'reject', note: 'not a good day', remember: 'once' }])
    expect(screen.getByText('not a good day')).toBeInTheDocument()
  })

  it('is not answered when Escape leaves the note', async () => {
    const { user, answers } = open([makeApproval()])
    await card(/Overwrite/)
    await user.keyboard('r')
    await waitFor(() => expect(screen.getByRole('textbox', { name: /Add a note/ })).toHaveFocus())
    await user.keyboard('a{Escape}')
    expect(await screen.findByRole('button', { name: /Approve once/ })).toBeInTheDocument()
    expect(answers()).toEqual([])
  })

  it('shows the rule before "always" creates it', async () => {
    const approval = makeApproval({
      alwaysRule: { effect: 'allow', tool: 'write_file', pattern: 'Documents/*', agentId: makeId(), folder: '/home/ada' },
    })
    const { user, answers } = open([approval])
    await card(/Overwrite/)
    await user.click(screen.getByRole('button', { name: 'Always…' }))
    expect(answers()).toEqual([])
    expect(screen.getByText('Allow write_file for “Documents/*” in /home/ada, only for Ada')).toBeInTheDocument()
    await user.click(screen.getByRole('button', { name: 'Create rule and approve' }))
    expect(await screen.findByText('Approved and rule created')).toBeInTheDocument()
    expect(answers()).toEqual([{ approvalId: approval.id, decision: 'approve', remember: 'always' }])
  })

  it('says on the card what an approval for the job allows', async () => {
    open([makeApproval()])
    await card(/Overwrite/)
    expect(screen.getByRole('button', { name: 'For this job' })).toHaveAccessibleDescription(
      '“For this job” also allows other calls of write_file with the same risks for the rest of the job.',
    )
  })

  it('offers no rule to a member, who may not create it', async () => {
    open([makeApproval()], undefined, undefined, { id: makeId(), name: 'Bo', role: 'member', createdAt: 0 })
    await card(/Overwrite/)
    expect(screen.getByRole('button', { name: 'For this job' })).toBeInTheDocument()
    expect(screen.queryByRole('button', { name: 'Always…' })).toBeNull()
  })

  it('offers only the durations that the runner allows', async () => {
    open([makeApproval({ mayRemember: ['once'], alwaysRule: null })])
    await card(/Overwrite/)
    expect(screen.getByRole('button', { name: /Approve once/ })).toBeInTheDocument()
    expect(screen.queryByRole('button', { name: 'For this job' })).toBeNull()
    expect(screen.queryByRole('button', { name: 'Always…' })).toBeNull()
  })

  it('says that somebody else answered first, and how', async () => {
    const approval = makeApproval()
    const { user } = open([approval])
    await card(/Overwrite/)
    Object.assign(approval, { status: 'rejected', remember: 'once', answeredAt: 1_700_000_100_000 })
    await user.keyboard('a')
    const front = await card(/Overwrite/)
    expect(await within(front).findByRole('alert')).toHaveTextContent('Already answered elsewhere.')
    expect(await within(front).findByText('Rejected')).toBeInTheDocument()
  })

  it('shows that it was answered elsewhere', async () => {
    const approval = makeApproval()
    const { runner } = open([approval])
    await card(/Overwrite/)
    await waitFor(() => expect(runner.streams).toHaveLength(1))
    Object.assign(approval, { status: 'approved', remember: 'once', answeredAt: 1_700_000_100_000 })
    runner.happen(happenedElsewhere(approval, 'approve'))
    expect(await screen.findByRole('alert')).toHaveTextContent('Already answered elsewhere')
    expect(screen.queryByRole('button', { name: /Approve once/ })).toBeNull()
  })

  it('says that it expired before the answer arrived', async () => {
    const approval = makeApproval()
    const { user } = open([approval])
    await card(/Overwrite/)
    approval.status = 'expired'
    await user.click(screen.getByRole('button', { name: 'For this job' }))
    expect(await screen.findByRole('alert')).toHaveTextContent('It expired before your answer arrived.')
    expect(await screen.findByText('Expired')).toBeInTheDocument()
  })

  it('is open again when the answer could not be sent', async () => {
    const approval = makeApproval()
    const { user, runner } = open([approval])
    await card(/Overwrite/)
    runner.answer({ resolveApproval: () => new Refusal('disk_full', 'The disk is full.') })
    await user.keyboard('a')
    expect(await screen.findByRole('alert')).toHaveTextContent('Free some space')
    expect(await screen.findByRole('button', { name: /Approve once/ })).toBeEnabled()
  })

  it('is open again when the runner is away', async () => {
    const approval = makeApproval()
    const { user, runner } = open([approval])
    await card(/Overwrite/)
    await waitFor(() => expect(runner.streams).toHaveLength(1))
    runner.setReachable(false)
    await user.keyboard('a')
    expect(await screen.findByRole('alert')).toHaveTextContent('The runner is not responding.')
    expect(screen.getByRole('button', { name: /Approve once/ })).toBeEnabled()
    expect(screen.queryByText('Approved once')).toBeNull()
    expect(screen.getByText('1 approval waiting')).toBeInTheDocument()
  })

  it('keeps the note that could not be sent, also when the person leaves', async () => {
    const approval = makeApproval()
    const first = open([approval])
    await card(/Overwrite/)
    first.runner.answer({ resolveApproval: () => new Refusal('disk_full', 'The disk is full.') })
    await first.user.keyboard('r')
    await waitFor(() => expect(screen.getByRole('textbox', { name: /Add a note/ })).toHaveFocus())
    await first.user.keyboard('not a good day{Enter}')
    await screen.findByRole('alert')
    expect(screen.getByRole('textbox', { name: /Add a note/ })).toHaveValue('not a good day')
    first.unmount()
    const { user, answers } = open([approval])
    const note = await screen.findByRole('textbox', { name: /Add a note/ })
    expect(note).toHaveValue('not a good day')
    // The arrows still move through the list.
    expect(note).not.toHaveFocus()
    await user.click(screen.getByRole('button', { name: 'Reject' }))
    expect(await screen.findByText('Rejected')).toBeInTheDocument()
    expect(answers()).toMatchObject([{ decision: 'reject', note: 'not a good day' }])
    await waitFor(() => expect(sessionStorage.getItem(`deckhand.draft.note.${approval.id}`)).toBeNull())
  })
})

describe('other kinds of decisions', () => {
  it('a question is answered by a choice, its number, or a text', async () => {
    const make = (text: string) =>
      makeApproval({
        kind: 'question',
        tool: 'ask_person',
        question: { text, choices: ['Lisbon', 'Porto'] },
        facts: null,
        decision: null,
        alwaysRule: null,
        mayRemember: ['once'],
      })
    const asked = [make('Where to?'), make('And then?'), make('With whom?')]
    const { user, answers } = open(asked, `/approvals/${asked[0]!.id}`)
    await card(/Where to\?/)
    await user.click(screen.getByRole('button', { name: /Porto/ }))
    await screen.findByText('Answered', { selector: 'article *' })
    await user.click(screen.getByRole('link', { name: 'Next approval' }))
    await card(/And then\?/)
    await user.keyboard('1')
    await waitFor(() => expect(answers()).toHaveLength(2))
    await user.click(await screen.findByRole('link', { name: 'Next approval' }))
    await card(/With whom\?/)
    await user.keyboard('a')
    await waitFor(() => expect(screen.getByRole('textbox', { name: 'Your answer' })).toHaveFocus())
    await user.keyboard('With Bruno{Enter}')
    await waitFor(() => expect(answers()).toHaveLength(3))
    expect(answers().map((body) => [body.decision, body.answer])).toEqual([
      ['approve', 'Porto'],
      ['approve', 'Lisbon'],
      ['approve', 'With Bruno'],
    ])
  })

  it('a question keeps what was typed when the answer is refused', async () => {
    const approval = makeApproval({
      kind: 'question',
      tool: 'ask_person',
      question: { text: 'With whom?', choices: [] },
      facts: null,
      decision: null,
      alwaysRule: null,
      mayRemember: ['once'],
    })
    const { user, runner } = open([approval])
    await card(/With whom\?/)
    runner.answer({ resolveApproval: () => new Refusal('disk_full', 'The disk is full.') })
    await user.type(screen.getByRole('textbox', { name: 'Your answer' }), 'With Bruno{Enter}')
    expect(await screen.findByRole('alert')).toHaveTextContent('Free some space')
    expect(screen.getByRole('textbox', { name: 'Your answer' })).toHaveValue('With Bruno')
  })

  it('an unknown outcome: it happened, run it again, or stop', async () => {
    const approval = makeApproval({ kind: 'unknown_outcome', alwaysRule: null, mayRemember: ['once'] })
    const { user, answers } = open([approval])
    const front = await card(/Unknown outcome/)
    expect(within(front).getByText(/never repeated automatically/)).toBeInTheDocument()
    expect(within(front).getByRole('button', { name: 'Run again' })).toBeInTheDocument()
    await user.click(within(front).getByRole('button', { name: /It succeeded/ }))
    await waitFor(() => expect(answers()).toEqual([{ approvalId: approval.id, decision: 'approve', answer: 'happened', remember: 'once' }]))
  })

  it('a budget shows the spending and the amount that approving adds', async () => {
    const approval = makeApproval({
      kind: 'budget',
      tool: null,
      callId: null,
      facts: null,
      budget: { scope: 'agent_day', limitUsd: 5, spentUsd: 4.98, extensionUsd: 2 },
    })
    const { user, answers } = open([approval])
    expect(
      await screen.findByText('The agent has spent $4.98 of its $5.00 daily limit. The next step may cost more than what is left.'),
    ).toBeInTheDocument()
    await user.click(screen.getByRole('button', { name: /Add \$2\.00/ }))
    expect(await screen.findByText('Limit raised')).toBeInTheDocument()
    expect(answers()).toHaveLength(1)
  })
})

describe('the list', () => {
  it('moves with the arrows, the soonest to expire first', async () => {
    const approvals = ['One', 'Two', 'Three'].map((summary, at) => makeApproval({ expiresAt: 10 + at, facts: makeFacts({ summary }) }))
    const { user, path } = open(approvals.toReversed())
    await card(/One/)
    await user.keyboard('{ArrowDown}')
    await card(/Two/)
    await waitFor(() => expect(path()).toBe(`/approvals/${approvals[1]!.id}`))
    await user.keyboard('{ArrowUp}')
    await card(/One/)
    const links = within(screen.getByRole('navigation', { name: 'Approvals' })).getAllByRole('link')
    expect(links.map((link) => link.textContent)).toEqual([
      expect.stringContaining('One'),
      expect.stringContaining('Two'),
      expect.stringContaining('Three'),
    ])
  })

  it('explains approvals when there are none', async () => {
    open([])
    expect(await screen.findByText('You’re all caught up')).toBeInTheDocument()
    expect(screen.getByRole('link', { name: 'View and test rules' })).toHaveAttribute('href', '/rules')
  })

  it('keeps answered approvals', async () => {
    const answered = makeApproval({ status: 'rejected', note: 'No.', answeredAt: 1_700_000_500_000 })
    const { user } = open([answered, makeApproval({ facts: makeFacts({ summary: 'Still open' }) })])
    await card(/Still open/)
    await user.click(screen.getByRole('radio', { name: 'Resolved' }))
    const front = await card(/Overwrite/)
    expect(within(front).getByText('Rejected')).toBeInTheDocument()
    expect(within(front).queryByRole('button', { name: /Approve/ })).toBeNull()
    expect(screen.queryByRole('alert')).toBeNull()
  })

  it('opens the approval that a notification names', async () => {
    const approvals = [makeApproval({ expiresAt: 1 }), makeApproval({ expiresAt: 2, facts: makeFacts({ summary: 'The one meant' }) })]
    const { path } = open(approvals, `/approvals?id=${approvals[1]!.id}`)
    await card(/The one meant/)
    expect(path()).toBe(`/approvals/${approvals[1]!.id}`)
  })

  it('opens the approval that a notification names while another one is shown', async () => {
    const approvals = ['First', 'Second'].map((summary, n) => makeApproval({ expiresAt: n, facts: makeFacts({ summary }) }))
    const Page = () => (
      <>
        <A href={`/approvals?id=${approvals[1]!.id}`}>Look</A>
        <ApprovalsScreen />
      </>
    )
    const { user, path } = open(approvals, '/approvals', Page)
    await card(/First/)
    await user.click(screen.getByRole('link', { name: 'Look' }))
    expect(await card(/Second/)).toBeInTheDocument()
    expect(screen.queryByRole('article', { name: /First/ })).toBeNull()
    expect(path()).toBe(`/approvals/${approvals[1]!.id}`)
  })

  it('says that an approval does not exist', async () => {
    open([], `/approvals/${makeId()}`)
    expect(await screen.findByText('Approval not found')).toBeInTheDocument()
  })
})

describe('a question of an MCP server', () => {
  const asked = { text: 'Before I book: window?', choices: [], server: 'Hub' }

  it('is shown in the words of the server, apart from our own', async () => {
    const approval = makeApproval({ kind: 'question', tool: 'hub__book', question: { ...asked, form: 'yes_no' } })
    const { user, answers } = open([approval], `/approvals/${approval.id}`)
    const shown = await card(/Hub asks: “Before I book: window\?”/)
    expect(within(shown).getByText('Ada is waiting for the MCP server Hub')).toBeInTheDocument()
    expect(within(shown).getByRole('heading', { name: 'Hub asks' })).toBeInTheDocument()
    expect(shown.querySelector('blockquote')).toHaveTextContent('Before I book: window?')
    expect(shown).toHaveTextContent('Never enter passwords, keys or codes.')
    expect(within(shown).queryByRole('textbox')).toBeNull()
    await user.click(within(shown).getByRole('button', { name: 'No' }))
    expect(answers()).toMatchObject([{ decision: 'approve', answer: 'no' }])
  })

  it('shows an address without opening it', async () => {
    const approval = makeApproval({ kind: 'question', question: { ...asked, form: 'done', url: 'https://pay.example/7' } })
    const { user, answers } = open([approval], `/approvals/${approval.id}`)
    const shown = await card(/Hub asks/)
    expect(within(shown).getByRole('group', { name: 'Address' })).toHaveTextContent('https://pay.example/7')
    expect(within(shown).queryByRole('link', { name: /pay/ })).toBeNull()
    await user.click(within(shown).getByRole('button', { name: /Done/ }))
    expect(answers()).toMatchObject([{ decision: 'approve', answer: 'done' }])
  })
})
