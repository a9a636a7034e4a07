import Check from 'lucide-solid/icons/check'
import X from 'lucide-solid/icons/x'
import { createEffect, createSignal, For, type JSX, Match, on, onMount, Show, Switch } from 'solid-js'
import type { Approval, Remember } from '../../../src-runner/contract/approvals.ts'
import { useMay } from '../../api/may.ts'
import { keepDraft, readDraft } from '../../lib/drafts.ts'
import { pageId } from '../../lib/ids.ts'
import { useKeys } from '../../lib/keyboard.ts'
import { moneyText } from '../../../resources/locales/numbers.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { locale, t } from '../../lib/language.ts'
import { wholeRuleSentence } from '../rules/rule-sentence.ts'
import { Button } from '../../ui/Button.tsx'
import { KeyHint } from '../../ui/KeyHint.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { type Answering, draftsOf } from './use-answer.ts'

type FormProps = { approval: Approval; answering: Answering; hasKeys: boolean }

const PLAIN_YES = { yes_no: 'yes', done: 'done' } as const

/** The buttons for answering an approval. While the card has the keys, A approves and R rejects. */
export function AnswerForm(props: FormProps): JSX.Element {
  const [open, setOpen] = createSignal<'reject' | 'always' | null>(readDraft(draftsOf(props.approval.id).note) === '' ? null : 'reject')
  const may = useMay()
  const jobNoteId = pageId('for-job')
  let answerField: HTMLTextAreaElement | undefined
  const approve = (remember: Remember = 'once') => void props.answering.send({ decision: 'approve', remember })
  const answer = (choice: string) => void props.answering.send({ decision: 'approve', answer: choice })
  const reject = (note: string) => void props.answering.send({ decision: 'reject', note })

  const plainYes = () => {
    switch (props.approval.kind) {
      case 'tool':
      case 'budget':
        return approve()
      case 'unknown_outcome':
        return answer('happened')
      case 'question':
        return props.approval.question?.form === undefined ? answerField?.focus() : answer(PLAIN_YES[props.approval.question.form])
    }
  }
  const choose = (at: number) => {
    const choice = props.approval.question?.choices[at]
    if (choice !== undefined) answer(choice)
  }
  // The next card has the focus as soon as this one is answered: a key that is still held must not answer that one too.
  const pressed = (act: () => void) => (event: KeyboardEvent) => event.repeat || act()
  createEffect(() => {
    if (!props.hasKeys) return
    useKeys({
      a: pressed(plainYes),
      r: pressed(() => setOpen('reject')),
      ...Object.fromEntries([...'123456789'].map((figure) => [figure, pressed(() => choose(Number(figure) - 1))])),
    })
  })

  // An opened form is taller.
  const [form, setForm] = createSignal<HTMLDivElement>()
  createEffect(on(open, (now) => now !== null && form()?.scrollIntoView?.({ block: 'nearest' }), { defer: true }))

  return (
    <div ref={setForm} class="flex flex-col gap-3">
      <Show when={props.approval.kind === 'question' && props.approval.question?.form === undefined}>
        <AnswerField
          approvalId={props.approval.id}
          choices={props.approval.question?.choices ?? []}
          isBusy={props.answering.isRunning()}
          hasKeys={props.hasKeys}
          onAnswer={answer}
          ref={(field) => (answerField = field)}
        />
      </Show>
      <Switch>
        <Match when={open() === 'reject'}>
          <RejectNote
            approvalId={props.approval.id}
            label={t('approvals.rejectTitle')}
            confirm={rejectWord(props.approval.kind)}
            isBusy={props.answering.isRunning()}
            onReject={reject}
            onCancel={() => setOpen(null)}
          />
        </Match>
        <Match when={open() === 'always' && props.approval.alwaysRule}>
          {(rule) => (
            <AlwaysNote
              sentence={wholeRuleSentence(rule(), props.approval.agentName)}
              isBusy={props.answering.isRunning()}
              onConfirm={() => approve('always')}
              onCancel={() => setOpen(null)}
            />
          )}
        </Match>
        <Match when={true}>
          <div class="flex flex-wrap items-center gap-2">
            <Switch>
              <Match when={props.approval.kind === 'tool'}>
                <Yes {...props} onClick={() => approve()}>
                  {t('approvals.approveOnce')}
                </Yes>
                <Show when={props.approval.mayRemember.includes('job')}>
                  <Button aria-describedby={jobNoteId} disabled={props.answering.isRunning()} onClick={() => approve('job')}>
                    {t('approvals.approveJob')}
                  </Button>
                </Show>
                <Show when={may('createRule') && props.approval.mayRemember.includes('always') && props.approval.alwaysRule}>
                  <Button disabled={props.answering.isRunning()} onClick={() => setOpen('always')}>
                    {t('approvals.approveAlways')}
                  </Button>
                </Show>
              </Match>
              <Match when={props.approval.question?.form}>{(form) => <PlainAnswers {...props} form={form()} onAnswer={answer} />}</Match>
              <Match when={props.approval.kind === 'unknown_outcome'}>
                <Yes {...props} onClick={() => answer('happened')}>
                  {t('approvals.happened')}
                </Yes>
                <Button disabled={props.answering.isRunning()} onClick={() => answer('again')}>
                  {t('approvals.again')}
                </Button>
              </Match>
              <Match when={props.approval.budget}>
                {(budget) => (
                  <Yes {...props} onClick={() => approve()}>
                    {t('approvals.extend', { money: moneyText(budget().extensionUsd, locale()) })}
                  </Yes>
                )}
              </Match>
            </Switch>
            <span class="ml-auto">
              <Button
                variant={props.approval.kind === 'question' ? 'secondary' : 'danger'}
                icon={props.approval.kind === 'question' ? undefined : X}
                disabled={props.answering.isRunning()}
                onClick={() => setOpen('reject')}
              >
                {rejectWord(props.approval.kind)}
                <Hint show={props.hasKeys} keys="r" />
              </Button>
            </span>
          </div>
          <JobNote id={jobNoteId} approval={props.approval} />
        </Match>
      </Switch>
    </div>
  )
}

/** What "For this job" allows beside this call. */
function JobNote(props: { id: string; approval: Approval }): JSX.Element {
  return (
    <Show when={props.approval.mayRemember.includes('job') && props.approval.facts}>
      {(facts) => (
        <p id={props.id} class="text-xs wrap-anywhere text-ink-3">
          {t('approvals.approveJobWhy', { tool: facts().tool })}
        </p>
      )}
    </Show>
  )
}

function rejectWord(kind: Approval['kind']): string {
  return {
    tool: t('approvals.reject'),
    question: t('approvals.noAnswer'),
    unknown_outcome: t('approvals.stopJob'),
    budget: t('approvals.stopBudget'),
  }[kind]
}

function PlainAnswers(props: FormProps & { form: keyof typeof PLAIN_YES; onAnswer: (choice: string) => void }): JSX.Element {
  return (
    <>
      <Yes {...props} onClick={() => props.onAnswer(PLAIN_YES[props.form])}>
        {props.form === 'done' ? t('approvals.doneThere') : t('approvals.yes')}
      </Yes>
      <Show when={props.form === 'yes_no'}>
        <Button disabled={props.answering.isRunning()} onClick={() => props.onAnswer('no')}>
          {t('approvals.no')}
        </Button>
      </Show>
    </>
  )
}

function Yes(props: FormProps & { onClick: () => void; children: JSX.Element }): JSX.Element {
  return (
    <Button variant="primary" icon={Check} busy={props.answering.isRunning()} onClick={() => props.onClick()}>
      {props.children}
      <Hint show={props.hasKeys} keys="a" dark />
    </Button>
  )
}

function Hint(props: { show: boolean; keys: string; dark?: boolean }): JSX.Element {
  return (
    <Show when={props.show}>
      <span class="ml-1 group-has-[textarea:focus]/card:hidden max-sm:hidden">
        <KeyHint keys={props.keys} on={props.dark ? 'dark' : undefined} />
      </span>
    </Show>
  )
}

/** The rule that would answer from now on, before it is made. */
function AlwaysNote(props: { sentence: string; isBusy: boolean; onConfirm: () => void; onCancel: () => void }): JSX.Element {
  return (
    <div class="rounded-lg border border-line bg-inset p-3">
      <p class="text-xs font-semibold text-ink-2">{t('approvals.alwaysTitle')}</p>
      <p class="mt-1 text-sm font-medium wrap-anywhere text-ink">{props.sentence}</p>
      <p class="mt-1 text-xs text-ink-3">{t('approvals.alwaysNote')}</p>
      <div class="mt-3 flex flex-wrap gap-2">
        <Button variant="primary" busy={props.isBusy} onClick={() => props.onConfirm()}>
          {t('approvals.alwaysConfirm')}
        </Button>
        <Button onClick={() => props.onCancel()}>{t('common.cancel')}</Button>
      </div>
    </div>
  )
}

/** Enter sends, Shift+Enter starts a new line, Escape leaves. */
function sendKeys(send: () => void, leave?: () => void) {
  return (event: KeyboardEvent) => {
    if (event.isComposing) return
    if (event.key === 'Escape' && leave) {
      event.preventDefault()
      leave()
    } else if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault()
      send()
    }
  }
}

function RejectNote(props: {
  approvalId: string
  label: string
  confirm: string
  isBusy: boolean
  onReject: (note: string) => void
  onCancel: () => void
}): JSX.Element {
  const draft = () => draftsOf(props.approvalId).note
  const note = () => readDraft(draft())
  const reject = () => props.onReject(note())
  const cancel = () => {
    keepDraft(draft(), '')
    props.onCancel()
  }
  let field!: HTMLTextAreaElement
  // A restored note was not asked for now, so it leaves the focus where it is.
  onMount(() => note() === '' && field.focus())
  return (
    <div class="flex flex-col gap-2">
      <TextArea
        label={props.label}
        optional
        hint={t('approvals.rejectHint')}
        placeholder={t('approvals.rejectPlaceholder')}
        rows={2}
        maxRows={8}
        maxLength={4000}
        value={note()}
        onValue={(text) => keepDraft(draft(), text)}
        onKeyDown={sendKeys(reject, cancel)}
        ref={(element) => (field = element)}
      />
      <div class="flex flex-wrap items-center gap-2">
        <Button variant="danger" icon={X} busy={props.isBusy} onClick={reject}>
          {props.confirm}
        </Button>
        <Button onClick={cancel}>{t('common.cancel')}</Button>
      </div>
    </div>
  )
}

function AnswerField(props: {
  approvalId: string
  choices: readonly string[]
  isBusy: boolean
  hasKeys: boolean
  onAnswer: (answer: string) => void
  ref: (field: HTMLTextAreaElement) => void
}): JSX.Element {
  const draft = () => draftsOf(props.approvalId).answer
  const text = () => readDraft(draft())
  const send = () => text().trim() !== '' && props.onAnswer(text().trim())
  return (
    <div class="flex flex-col gap-3">
      <Show when={props.choices.length > 0}>
        <ul aria-label={t('approvals.choices')} class="flex flex-wrap gap-2">
          <For each={props.choices}>
            {(choice, at) => (
              <li class="min-w-0">
                <Button
                  class="h-auto! min-h-8 max-w-full py-1 text-left wrap-anywhere whitespace-normal!"
                  disabled={props.isBusy}
                  onClick={() => props.onAnswer(choice)}
                >
                  <Hint show={props.hasKeys && at() < 9} keys={String(at() + 1)} />
                  {visibleText(choice)}
                </Button>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <div class="flex items-end gap-2">
        <div class="min-w-0 flex-1">
          <TextArea
            label={t('approvals.answerLabel')}
            placeholder={t('approvals.answerPlaceholder')}
            rows={1}
            maxRows={10}
            maxLength={20_000}
            value={text()}
            onValue={(next) => keepDraft(draft(), next)}
            onKeyDown={sendKeys(send)}
            ref={(field) => props.ref(field)}
          />
        </div>
        <Button variant="primary" class="h-9.5!" busy={props.isBusy} disabled={text().trim() === ''} onClick={send}>
          {t('approvals.answerSend')}
        </Button>
      </div>
    </div>
  )
}
