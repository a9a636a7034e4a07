import { A, useNavigate, useParams } from '@solidjs/router'
import ChevronLeft from 'lucide-solid/icons/chevron-left'
import MessageSquare from 'lucide-solid/icons/message-square'
import { createEffect, createMemo, createSignal, For, type JSX, Match, on, Show, Switch } from 'solid-js'
import { createStore, reconcile, unwrap } from 'solid-js/store'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { ErrorIssue } from '../../../src-runner/contract/errors.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import { ApiError } from '../../api/client.ts'
import { useCreateAgent, useDeleteAgent, useUpdateAgent } from '../../api/mutations.ts'
import { issueText, sentenceOf } from '../../api/problem.ts'
import { useAgent, useAgents, useJobs, useModels } from '../../api/queries.ts'
import { locale, t } from '../../lib/language.ts'
import { MemoryPanel } from '../../features/memory/MemoryPanel.tsx'
import { RulesPanel } from '../../features/rules/RulesPanel.tsx'
import { Avatar } from '../../ui/Avatar.tsx'
import { UnpricedNote } from '../../features/models/UnpricedNote.tsx'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { SaveBar } from '../../ui/SaveBar.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { UnsavedGuard } from '../../ui/UnsavedGuard.tsx'
import {
  type AgentField,
  type AgentForm,
  bodyOf,
  BUDGET_FIELDS,
  DEFAULT_LIMIT_FIELDS,
  fieldOfIssue,
  formOf,
  isSameForm,
  LIMIT_FIELDS,
  type LimitField,
  problemsOf,
} from './agent-form.ts'
import { AutonomyField } from './AutonomyField.tsx'
import { FoldersField } from './FoldersField.tsx'
import { FallbacksField, ModelField } from './ModelField.tsx'
import { AgentChannels } from './AgentChannels.tsx'

/** `/agents/new` and `/agents/<id>`: the same form, empty or filled. */
export function AgentScreen() {
  const params = useParams<{ agentId: string }>()
  const isNew = () => params.agentId === 'new'
  const answer = useAgent(() => (isNew() ? null : params.agentId))
  return (
    <Screen width="narrow">
      <A href="/agents" class="-ml-1 mb-3 inline-flex items-center gap-1 rounded-md px-1 text-xs text-ink-3 hover:text-ink">
        <ChevronLeft size={14} aria-hidden="true" />
        {t('agents.title')}
      </A>
      <Show when={!isNew() && answer.data === undefined}>
        <h1 class="sr-only">{t('common.agent')}</h1>
      </Show>
      <Switch fallback={<AnswerState answer={answer} missing={{ title: t('agents.notFound'), why: t('agents.notFoundWhy') }} />}>
        <Match when={isNew()}>
          <AgentEditor agent={null} />
        </Match>
        <Match when={answer.data?.agent.id === params.agentId && answer.data?.agent}>{(agent) => <AgentEditor agent={agent()} />}</Match>
      </Switch>
    </Screen>
  )
}

type Issue = { field: AgentField; message: string; at: number | null }

function AgentEditor(props: { agent: Agent | null }) {
  const navigate = useNavigate()
  const models = useModels()
  const create = useCreateAgent()
  const update = useUpdateAgent()
  const [base, setBase] = createSignal(formOf(props.agent))
  const [form, setForm] = createStore<AgentForm>(formOf(props.agent))
  const [wasTried, setTried] = createSignal(false)
  const [issues, setIssues] = createSignal<Issue[]>([])
  const [trouble, setTrouble] = createSignal<unknown>(null)
  const [wasSaved, setSaved] = createSignal(false)
  let isLeaving = false

  const isDirty = createMemo(() => !isSameForm(form, base()))
  const ownProblems = createMemo(() => problemsOf(form, locale()))
  const problemOfField = (field: AgentField): string | null => {
    const issue = issues().find((one) => one.field === field)
    return issue?.message ?? (wasTried() ? (ownProblems()[field] ?? null) : null)
  }
  const change = <F extends AgentField>(field: F, value: AgentForm[F]) => {
    setForm(field, value as never)
    setIssues((all) => all.filter((issue) => issue.field !== field))
    setSaved(false)
  }
  const reset = (agent: Agent | null) => {
    setBase(formOf(agent))
    setForm(reconcile(formOf(agent)))
  }

  // What was changed elsewhere shows up here, unless somebody is writing.
  createEffect(
    on(
      () => props.agent?.updatedAt,
      () => !isDirty() && reset(props.agent),
      { defer: true },
    ),
  )
  const isStale = createMemo(() => isDirty() && !isSameForm(base(), formOf(props.agent)))

  const takeProblem = (thrown: unknown) => {
    const known = thrown instanceof ApiError ? thrown.issues.flatMap((issue) => issueOfForm(issue)) : []
    setIssues(known)
    setTrouble(known.length === 0 ? thrown : null)
    focusFirstProblem()
  }
  const save = async () => {
    setTried(true)
    setTrouble(null)
    if (Object.keys(ownProblems()).length > 0) return focusFirstProblem()
    const sent = structuredClone(unwrap(form))
    try {
      if (props.agent === null) {
        const { agent } = await create.run({ body: bodyOf(sent) })
        isLeaving = true
        toast({
          text: t('agents.created', { name: agent.name }),
          action: { label: t('agents.chat'), onClick: () => navigate(`/chat?agent=${agent.id}`) },
        })
        navigate('/agents')
        return
      }
      await update.run({ params: { agentId: props.agent.id }, body: bodyOf(sent) })
      setBase(sent)
      setTried(false)
      setSaved(true)
    } catch (thrown) {
      takeProblem(thrown)
    }
  }
  const problemCount = () => new Set([...Object.keys(wasTried() ? ownProblems() : {}), ...issues().map((issue) => issue.field)]).size
  const problem = () =>
    trouble() === null ? (problemCount() > 0 ? t('agents.check', { count: problemCount() }) : null) : sentenceOf(trouble())
  const standing = () => {
    if (isStale()) return t('agents.changedElsewhere')
    return wasSaved() ? t('agents.saved') : isDirty() ? t('agents.unsaved') : ''
  }

  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <PageHeader
        leading={<Avatar name={form.name || t('agents.newAgent')} text={form.avatar.trim() || null} size="lg" />}
        title={props.agent?.name ?? t('agents.createTitle')}
        actions={
          <Show when={props.agent}>
            {(agent) => (
              <>
                <ButtonLink variant="ghost" href={`/activity?agent=${agent().id}`}>
                  {t('agents.showJobs')}
                </ButtonLink>
                <ButtonLink icon={MessageSquare} href={`/chat?agent=${agent().id}`}>
                  {t('agents.chat')}
                </ButtonLink>
              </>
            )}
          </Show>
        }
      />
      <div class="flex flex-col gap-4">
        <Panel title={t('agents.sections.general')}>
          <div class="flex flex-col gap-4">
            <div class="flex flex-wrap gap-4">
              <div class="min-w-56 flex-1">
                <TextField
                  isFirst={props.agent === null}
                  label={t('agents.name')}
                  hint={t('agents.nameHint')}
                  placeholder={t('agents.namePlaceholder')}
                  problem={problemOfField('name')}
                  value={form.name}
                  onValue={(value) => change('name', value)}
                  autofocus={props.agent === null}
                />
              </div>
              <div class="w-40">
                <TextField
                  label={t('agents.avatar')}
                  optional
                  hint={t('agents.avatarHint')}
                  problem={problemOfField('avatar')}
                  value={form.avatar}
                  onValue={(value) => change('avatar', value)}
                />
              </div>
            </div>
            <TextArea
              label={t('agents.instructions')}
              optional
              rows={6}
              maxRows={20}
              hint={t('agents.instructionsHint')}
              placeholder={t('agents.instructionsPlaceholder')}
              problem={problemOfField('instructions')}
              value={form.instructions}
              onValue={(value) => change('instructions', value)}
            />
          </div>
        </Panel>
        <Panel title={t('agents.sections.model')}>
          <div class="flex flex-col gap-4">
            <ModelField
              models={models.data}
              value={form.model}
              problem={problemOfField('model')}
              onValue={(value) => change('model', value)}
            />
            <Show when={form.model === null && models.data !== undefined && models.data.defaultModel === null}>
              <p class="flex flex-wrap items-center gap-x-3 rounded-lg bg-warn-soft px-3.5 py-2 text-sm text-warn">
                {t('agents.noDefault')}
                <A href="/models" class="font-medium underline underline-offset-2">
                  {t('agents.chooseDefault')}
                </A>
              </p>
            </Show>
            <FallbacksField
              models={models.data}
              value={form.fallbacks}
              problem={problemOfField('fallbacks')}
              onValue={(value) => change('fallbacks', value)}
            />
          </div>
        </Panel>
        <Panel title={t('agents.sections.autonomy')}>
          <AutonomyField value={form.autonomy} onValue={(value) => change('autonomy', value)} />
        </Panel>
        <Panel title={t('agents.sections.folders')}>
          <FoldersField
            value={form.folders}
            onValue={(value) => change('folders', value)}
            problem={problemOfField('folders')}
            problemAt={issues().find((issue) => issue.field === 'folders')?.at ?? null}
          />
        </Panel>
        <Panel
          title={t('agents.sections.limits')}
          description={t('agents.limitsWhy')}
          actions={
            <Show when={LIMIT_FIELDS.some((field) => form[field] !== DEFAULT_LIMIT_FIELDS[field])}>
              <Button size="sm" variant="ghost" onClick={() => LIMIT_FIELDS.forEach((field) => change(field, DEFAULT_LIMIT_FIELDS[field]))}>
                {t('agents.resetLimits')}
              </Button>
            </Show>
          }
        >
          <div class="grid grid-cols-[repeat(auto-fit,minmax(9rem,1fr))] gap-4">
            <For each={LIMIT_FIELDS}>
              {(field) => (
                <TextField
                  inputMode="decimal"
                  label={t(`agents.limits.${field}`)}
                  hint={limitHint(field)}
                  problem={problemOfField(field)}
                  value={form[field]}
                  onValue={(value) => change(field, value)}
                />
              )}
            </For>
          </div>
        </Panel>
        <Panel title={t('agents.sections.spendingLimits')} description={t('agents.budgetsWhy')}>
          <div class="grid grid-cols-[repeat(auto-fit,minmax(9rem,1fr))] gap-4">
            <For each={BUDGET_FIELDS}>
              {(field) => (
                <TextField
                  inputMode="decimal"
                  label={t(`agents.budgets.${field}`)}
                  placeholder={t('agents.budgets.none')}
                  problem={problemOfField(field)}
                  value={form[field]}
                  onValue={(value) => change(field, value)}
                />
              )}
            </For>
          </div>
          <Show when={props.agent}>{(agent) => <UnpricedNote agents={[agent()]} />}</Show>
        </Panel>
        <Show when={props.agent}>{(agent) => <Apart agent={agent()} />}</Show>
        <Show when={props.agent}>{(agent) => <Standing agent={agent()} onDeleted={() => (isLeaving = true)} />}</Show>
      </div>
      <SaveBar
        status={problem() ?? standing()}
        isProblem={problem() !== null}
        submit={props.agent === null ? t('agents.create') : t('agents.save')}
        canSubmit={props.agent === null || isDirty()}
        isBusy={create.isRunning || update.isRunning}
        onCancel={props.agent === null ? () => navigate('/agents') : isDirty() ? () => reset(props.agent) : undefined}
      />
      <UnsavedGuard isDirty={() => isDirty() && !isLeaving} title={t('agents.unsavedTitle')} leave={t('agents.unsavedLeave')}>
        {t('agents.unsavedText')}
      </UnsavedGuard>
    </form>
  )
}

function issueOfForm(issue: ErrorIssue): Issue[] {
  const field = fieldOfIssue(issue.path)
  const at = /\.(\d+)/.exec(issue.path)?.[1]
  return field === null ? [] : [{ field, message: issueText(issue), at: at === undefined ? null : Number(at) }]
}

function focusFirstProblem(): void {
  requestAnimationFrame(() => {
    const field = document.querySelector<HTMLElement>('form [aria-invalid=true], form [data-invalid]')
    field?.focus()
    field?.scrollIntoView({ block: 'center' })
  })
}

function limitHint(field: LimitField): string {
  return {
    maxTurns: t('agents.limits.maxTurnsHint'),
    maxCostUsd: t('agents.limits.maxCostUsdHint'),
    maxWorkingMinutes: t('agents.limits.maxWorkingMinutesHint'),
    maxToolCalls: t('agents.limits.maxToolCallsHint'),
  }[field]
}

/** What is saved by itself and not with the form around it, so Enter in its fields must not save the form. */
function Apart(props: { agent: Agent }): JSX.Element {
  return (
    <div
      class="contents"
      onKeyDown={(event) => event.key === 'Enter' && event.target instanceof HTMLInputElement && event.preventDefault()}
    >
      <AgentChannels agentId={props.agent.id} />
      <RulesPanel agent={props.agent} />
      <MemoryPanel agent={props.agent} />
    </div>
  )
}

/** The default agent, and the end of an agent. */
function Standing(props: { agent: Agent; onDeleted: () => void }): JSX.Element {
  const navigate = useNavigate()
  const agents = useAgents()
  const update = useUpdateAgent()
  const remove = useDeleteAgent()
  const [isAsking, setAsking] = createSignal(false)
  const underWay = useJobs(() =>
    isAsking() ? { agentId: props.agent.id, status: ['pending', 'running', 'awaiting_approval', 'awaiting_child'] } : null,
  )
  const isOnly = () => agents.data?.agents.length === 1
  const makeDefault = async () => {
    try {
      await update.run({ params: { agentId: props.agent.id }, body: { isDefault: true } })
    } catch (thrown) {
      toast({ text: sentenceOf(thrown), tone: 'bad' })
    }
  }
  const deleteNow = async () => {
    await remove.run({ params: { agentId: props.agent.id } })
    props.onDeleted()
    toast({ text: t('agents.deleted', { name: props.agent.name }) })
    navigate('/agents', { replace: true })
  }
  const describe = (thrown: unknown) =>
    thrown instanceof ApiError && thrown.code === 'agent_is_last' ? t('agents.deleteLast') : sentenceOf(thrown)
  return (
    <Panel>
      <div class="flex flex-col gap-4">
        <div class="flex flex-wrap items-center gap-3">
          <p class="min-w-48 flex-1 text-sm text-ink-2">{props.agent.isDefault ? t('agents.isTheDefault') : t('agents.makeDefaultHint')}</p>
          <Show when={!props.agent.isDefault}>
            <Button busy={update.isRunning} onClick={() => void makeDefault()}>
              {t('agents.makeDefault')}
            </Button>
          </Show>
        </div>
        <div class="flex flex-wrap items-center gap-3 border-t border-line pt-4">
          <p class="min-w-48 flex-1 text-sm text-ink-2">{isOnly() ? t('agents.deleteLast') : t('agents.deleteText')}</p>
          <Button variant="danger" disabled={isOnly()} onClick={() => setAsking(true)}>
            {t('agents.deleteAgent')}
          </Button>
        </div>
      </div>
      <ConfirmDialog
        open={isAsking()}
        onClose={() => setAsking(false)}
        title={t('agents.deleteTitle', { name: props.agent.name })}
        confirm={t('agents.deleteAgent')}
        tone="bad"
        onConfirm={deleteNow}
        describeError={describe}
      >
        <p>{t('agents.deleteText')}</p>
        <Show when={underWay.items.length > 0}>
          <p class="mt-2 text-warn">{t('agents.deleteRunning', { count: underWay.items.length })}</p>
        </Show>
      </ConfirmDialog>
    </Panel>
  )
}
