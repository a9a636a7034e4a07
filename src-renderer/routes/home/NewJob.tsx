import ArrowUp from 'lucide-solid/icons/arrow-up'
import { createEffect, createMemo, createSignal, on, Show } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { MAX_TASK_CHARS } from '../../../src-runner/contract/primitives.ts'
import { useAction } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { joinDrafts, keepDraft, readDraft } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { Select } from '../../ui/Select.tsx'
import { TextArea } from '../../ui/TextArea.tsx'

const AGENT_STORED_AS = 'deckhand.hand-over-agent'
const DRAFT = 'job'

/**
 * Runs a job without leaving the screen. It then appears below, running. Without `agents`, which come with the runner, a person
 * can write already, and what they send leaves as soon as the agents are known.
 */
export function NewJob(props: {
  agents: readonly Agent[] | undefined
  /** The field gets the focus and this text, if there is any. null: neither. */
  requested: string | null
  onTaken: () => void
}) {
  const submit = useAction('submitTask')
  const [chosenId, setChosenId] = createSignal(localStorage.getItem(AGENT_STORED_AS))
  const [isWaiting, setIsWaiting] = createSignal(false)
  let area: HTMLTextAreaElement | undefined
  const agent = createMemo(
    () => props.agents?.find((one) => one.id === chosenId()) ?? props.agents?.find((one) => one.isDefault) ?? props.agents?.[0],
  )
  const options = createMemo(() => (props.agents ?? []).map((one) => ({ value: one.id, label: one.name })))
  createEffect(
    on(
      () => props.requested,
      (text) => {
        if (text === null) return
        if (text !== '') keepDraft(DRAFT, text)
        area?.focus()
        props.onTaken()
      },
    ),
  )
  const send = async () => {
    const text = readDraft(DRAFT).trim()
    const to = agent()
    if (text === '' || submit.isRunning) return
    setIsWaiting(to === undefined)
    if (to === undefined) return
    // At once, so that what is typed meanwhile stays, and the text is not there to be sent again after a return to this screen.
    keepDraft(DRAFT, '')
    try {
      await submit.run({ body: { task: text, agentId: to.id } })
    } catch {
      // The field shows `submit.error` and has the text again.
      keepDraft(DRAFT, joinDrafts(text, readDraft(DRAFT)))
    }
  }
  createEffect(
    on(agent, (known) => {
      if (known !== undefined && isWaiting()) void send()
    }),
  )
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    void send()
  }
  return (
    <section
      aria-label={t('home.composer.label')}
      class="rounded-xl border border-line-strong bg-surface shadow-card focus-within:border-accent-ink"
    >
      <TextArea
        label={t('home.composer.label')}
        hideLabel
        bare
        rows={2}
        maxRows={12}
        maxLength={MAX_TASK_CHARS}
        placeholder={agent() && t('home.composer.placeholder', { agent: agent()!.name })}
        value={readDraft(DRAFT)}
        onValue={(text) => keepDraft(DRAFT, text)}
        onKeyDown={onKeyDown}
        ref={(element) => (area = element)}
      />
      <Show when={submit.error}>
        {(error) => (
          <p role="alert" class="px-3 pb-2 text-sm text-bad">
            {sentenceOf(error())}
          </p>
        )}
      </Show>
      <div class="flex items-center justify-between gap-3 px-2 pb-2">
        <Show when={agent()} fallback={<span />}>
          {(known) => (
            <Select
              label={t('home.composer.agent')}
              hideLabel
              size="sm"
              bare
              class="max-w-56"
              options={options()}
              value={known().id}
              onValue={(id) => {
                setChosenId(id)
                localStorage.setItem(AGENT_STORED_AS, id)
              }}
            />
          )}
        </Show>
        <Button
          variant="primary"
          size="sm"
          icon={ArrowUp}
          busy={submit.isRunning || isWaiting()}
          disabled={readDraft(DRAFT).trim() === ''}
          onClick={() => void send()}
        >
          {t('home.composer.send')}
        </Button>
      </div>
    </section>
  )
}
