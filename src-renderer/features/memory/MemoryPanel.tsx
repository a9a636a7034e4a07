import { A, useSearchParams } from '@solidjs/router'
import Pencil from 'lucide-solid/icons/pencil'
import Search from 'lucide-solid/icons/search'
import Trash from 'lucide-solid/icons/trash'
import { createEffect, createSignal, type JSX, Match, on, onCleanup, Show, Switch } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { MEMORY_MAX_CHARS, type Memory } from '../../../src-runner/contract/memory.ts'
import { useAction } from '../../api/mutations.ts'
import { problemOf, sentenceOf } from '../../api/problem.ts'
import { useMemories } from '../../api/queries.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { IconButton } from '../../ui/IconButton.tsx'
import { KeyedFor } from '../../ui/KeyedFor.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { SegmentedControl } from '../../ui/SegmentedControl.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toasts.tsx'

type Tab = 'own' | 'shared'
const SEARCH_AFTER_MS = 180
const NAMED_BY_CHARS = 40

/** The memories of an agent and those of all agents, to search, add, edit and delete. */
export function MemoryPanel(props: { agent: Agent }): JSX.Element {
  // In the URL, so that a reload keeps the place. The names are those of the panel, because the screen around it may have a search.
  const [search, setSearch] = useSearchParams<{ memoryTab?: string; memoryQ?: string }>()
  const tab = (): Tab => (search.memoryTab === 'shared' ? 'shared' : 'own')
  const typed = () => search.memoryQ ?? ''
  const [query, setQuery] = createSignal(typed().trim())
  createEffect(
    on(
      typed,
      (now) => {
        const timer = setTimeout(() => setQuery(now.trim()), SEARCH_AFTER_MS)
        onCleanup(() => clearTimeout(timer))
      },
      { defer: true },
    ),
  )
  const memories = useMemories(() => ({ agentId: tab() === 'own' ? props.agent.id : 'shared', q: query() === '' ? undefined : query() }))
  return (
    <Panel title={t('memory.title')} description={t('memory.text')}>
      <div class="flex flex-col gap-3">
        <div class="flex flex-wrap items-center gap-3">
          <SegmentedControl
            label={t('memory.title')}
            options={[
              { value: 'own', label: t('memory.own') },
              { value: 'shared', label: t('memory.shared') },
            ]}
            value={tab()}
            onValue={(one) => setSearch({ memoryTab: one === 'own' ? undefined : one }, { replace: true })}
          />
          <div class="min-w-44 flex-1">
            <TextField
              label={t('memory.search')}
              hideLabel
              placeholder={t('memory.search')}
              icon={Search}
              value={typed()}
              onValue={(text) => setSearch({ memoryQ: text === '' ? undefined : text }, { replace: true })}
            />
          </div>
        </div>
        <Switch>
          <Match when={memories.error && memories.items.length === 0}>
            <ErrorState compact problem={problemOf(memories.error)} onRetry={memories.retry} />
          </Match>
          <Match when={memories.isPending}>
            <Skeleton rows={3} />
          </Match>
          <Match when={memories.items.length === 0 && query() !== ''}>
            <p class="text-sm text-ink-3">{t('common.noMatchFor', { query: query() })}</p>
          </Match>
          <Match when={memories.items.length === 0}>
            <p class="text-sm text-ink-2">
              <span class="font-medium text-ink">{tab() === 'own' ? t('memory.none') : t('memory.noneShared')}.</span>{' '}
              {tab() === 'own' ? t('memory.noneText') : t('memory.noneSharedText')}
            </p>
          </Match>
          <Match when={true}>
            <ul class="flex flex-col">
              <KeyedFor each={memories.items} keyOf={(memory) => memory.id}>
                {(memory) => <MemoryLine memory={memory()} />}
              </KeyedFor>
            </ul>
            <Show when={memories.hasMore}>
              <Button size="sm" variant="ghost" class="self-start" busy={memories.isLoadingMore} onClick={memories.more}>
                {t('common.more')}
              </Button>
            </Show>
          </Match>
        </Switch>
        <NewMemory agentId={tab() === 'own' ? props.agent.id : null} />
      </div>
    </Panel>
  )
}

function NewMemory(props: { agentId: string | null }): JSX.Element {
  const create = useAction('createMemory')
  const [typed, setTyped] = createSignal('')
  const add = async () => {
    try {
      await create.run({ body: { agentId: props.agentId, text: typed().trim() } })
      setTyped('')
    } catch {
      // Shown under the field.
    }
  }
  return (
    <div class="flex items-end gap-2">
      <div class="min-w-0 flex-1">
        <TextArea
          label={t('memory.newText')}
          placeholder={t('memory.newPlaceholder')}
          rows={1}
          maxRows={8}
          maxLength={MEMORY_MAX_CHARS}
          problem={create.error === null ? null : sentenceOf(create.error)}
          value={typed()}
          onValue={setTyped}
        />
      </div>
      <Button class="h-9.5!" busy={create.isRunning} disabled={typed().trim() === ''} onClick={() => void add()}>
        {t('memory.add')}
      </Button>
    </div>
  )
}

function MemoryLine(props: { memory: Memory }): JSX.Element {
  const update = useAction('updateMemory')
  const remove = useAction('deleteMemory')
  const [draft, setDraft] = createSignal<string | null>(null)
  const [isAsking, setAsking] = createSignal(false)
  const name = () => (props.memory.text.length > NAMED_BY_CHARS ? `${props.memory.text.slice(0, NAMED_BY_CHARS)}…` : props.memory.text)
  const save = async (saved: string) => {
    try {
      await update.run({ params: { memoryId: props.memory.id }, body: { text: saved.trim() } })
      setDraft(null)
    } catch {
      // Shown under the field; where there is none, as a toast.
      if (draft() === null) toast({ text: sentenceOf(update.error), tone: 'bad' })
    }
  }
  return (
    <li class="-mx-2 rounded-md px-2 py-1.5 hover:bg-hover">
      <Show
        when={draft() !== null}
        fallback={
          <div class="flex items-start gap-2">
            <div class="min-w-0 flex-1">
              <p class="text-sm wrap-anywhere whitespace-pre-wrap text-ink">{visibleText(props.memory.text)}</p>
              <p class="mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-ink-3">
                <Show when={props.memory.untrusted}>
                  <Pill tone="warn" title={t('memory.untrustedWhy')}>
                    {t('memory.untrusted')}
                  </Pill>
                  <button type="button" class="font-medium text-accent-ink hover:underline" onClick={() => void save(props.memory.text)}>
                    {t('memory.vouch')}
                  </button>
                </Show>
                <Show when={props.memory.jobId} fallback={t('memory.byPerson')}>
                  {(jobId) => (
                    <A href={`/jobs/${jobId()}`} title={t('memory.openJob')} class="hover:underline">
                      {t('memory.byJob')}
                    </A>
                  )}
                </Show>
                <Time at={props.memory.updatedAt} />
              </p>
            </div>
            <IconButton size="sm" icon={Pencil} label={t('memory.edit', { text: name() })} onClick={() => setDraft(props.memory.text)} />
            <IconButton size="sm" icon={Trash} label={t('memory.delete', { text: name() })} onClick={() => setAsking(true)} />
          </div>
        }
      >
        <div class="flex flex-col gap-2">
          <TextArea
            label={t('memory.edit', { text: name() })}
            hideLabel
            rows={2}
            maxRows={12}
            maxLength={MEMORY_MAX_CHARS}
            problem={update.error === null ? null : sentenceOf(update.error)}
            value={draft() ?? ''}
            onValue={setDraft}
            onKeyDown={(event) => event.key === 'Escape' && setDraft(null)}
            ref={(field) => queueMicrotask(() => field.focus())}
          />
          <div class="flex gap-2">
            <Button
              size="sm"
              variant="primary"
              busy={update.isRunning}
              disabled={draft()?.trim() === ''}
              onClick={() => void save(draft() ?? '')}
            >
              {t('common.save')}
            </Button>
            <Button size="sm" onClick={() => setDraft(null)}>
              {t('common.cancel')}
            </Button>
          </div>
        </div>
      </Show>
      <ConfirmDialog
        open={isAsking()}
        onClose={() => setAsking(false)}
        title={t('memory.deleteTitle')}
        confirm={t('common.delete')}
        tone="bad"
        onConfirm={() => remove.run({ params: { memoryId: props.memory.id } })}
        describeError={sentenceOf}
      >
        <p class="wrap-anywhere">{visibleText(name())}</p>
      </ConfirmDialog>
    </li>
  )
}
