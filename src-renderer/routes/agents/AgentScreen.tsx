import { A, useNavigate, useParams } from '@solidjs/router'
import ChevronLeft from 'lucide-solid/icons/chevron-left'
import MessageSquare from 'lucide-solid/icons/message-square'
import { For, type JSX, Match, Show, Switch } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import { useAction } from '../../api/mutations.ts'
import { useAgent } from '../../api/queries.ts'
import { FoldersField } from '../../features/files/FoldersField.tsx'
import { type Starter, STARTERS } from '../../features/agents/starters.ts'
import { EditorForm } from '../../features/forms/EditorForm.tsx'
import { type Form, useForm } from '../../features/forms/use-form.ts'
import { MemoryPanel } from '../../features/memory/MemoryPanel.tsx'
import { RulesPanel } from '../../features/rules/RulesPanel.tsx'
import { locale, t } from '../../lib/language.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { type AgentForm, bodyOf, fieldOfIssue, formOf, problemsOf } from './agent-form.ts'
import { AgentReach } from './AgentReach.tsx'
import { SkillsPanel } from './SkillsPanel.tsx'
import { GeneralPanel, LimitsPanel, ModelPanel, SpendingPanel } from './AgentPanels.tsx'
import { AutonomyField } from './AutonomyField.tsx'
import { DefaultAndDelete } from './DefaultAndDelete.tsx'

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

function AgentEditor(props: { agent: Agent | null }) {
  const navigate = useNavigate()
  const create = useAction('createAgent')
  const update = useAction('updateAgent')
  const form = useForm<AgentForm>({
    first: formOf(props.agent),
    check: (fields) => problemsOf(fields, locale()),
    fieldOfIssue,
    stored: () => props.agent && formOf(props.agent),
  })
  const save = () =>
    form.submit(async (fields) => {
      if (props.agent !== null) {
        await update.run({ params: { agentId: props.agent.id }, body: bodyOf(fields) })
        return
      }
      const { agent } = await create.run({ body: bodyOf(fields) })
      toast({
        text: t('agents.created', { name: agent.name }),
        action: { label: t('agents.chat'), onClick: () => navigate(`/chat?agent=${agent.id}`) },
      })
      return () => navigate('/agents')
    })
  const cancel = () => {
    if (props.agent === null) return () => navigate('/agents')
    return form.isDirty() ? form.reset : undefined
  }
  return (
    <EditorForm
      form={form}
      isNew={props.agent === null}
      submit={props.agent === null ? t('agents.create') : t('agents.save')}
      isBusy={create.isRunning || update.isRunning}
      onSave={() => void save()}
      onCancel={cancel()}
    >
      <PageHeader
        leading={<Avatar name={form.fields.name || t('agents.newAgent')} text={form.fields.avatar.trim() || null} size="lg" />}
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
        <Show when={props.agent === null}>
          <Examples form={form} />
        </Show>
        <GeneralPanel form={form} agent={props.agent} />
        <ModelPanel form={form} agent={props.agent} />
        <Panel title={t('agents.sections.autonomy')}>
          <AutonomyField value={form.fields.autonomy} onValue={(value) => form.change('autonomy', value)} />
        </Panel>
        <Panel id="folders" title={t('agents.sections.folders')}>
          <FoldersField
            none={t('agents.foldersNone')}
            hint={t('agents.foldersHint')}
            value={form.fields.folders}
            onValue={(value) => form.change('folders', value)}
            problem={form.problemOf('folders')}
            problemAt={form.problemAt('folders')}
          />
        </Panel>
        <LimitsPanel form={form} agent={props.agent} />
        <SpendingPanel form={form} agent={props.agent} />
        <Show when={props.agent}>
          {(agent) => (
            <>
              <SavedApart agent={agent()} />
              <DefaultAndDelete agent={agent()} onDeleted={form.reset} />
            </>
          )}
        </Show>
      </div>
    </EditorForm>
  )
}

/** Panels that save their own changes, so Enter in their fields must not save the form around them. */
function SavedApart(props: { agent: Agent }): JSX.Element {
  return (
    <div
      class="contents"
      onKeyDown={(event) => event.key === 'Enter' && event.target instanceof HTMLInputElement && event.preventDefault()}
    >
      <AgentReach agent={props.agent} />
      <SkillsPanel agent={props.agent} />
      <RulesPanel agent={props.agent} />
      <MemoryPanel agent={props.agent} />
    </div>
  )
}

/** Fills the form of a new agent, until the person has written something of their own. */
function Examples(props: { form: Form<AgentForm> }): JSX.Element {
  const textOf = (starter: Starter, part: 'name' | 'what' | 'instructions') => t(`welcome.agent.starters.${starter}.${part}`)
  const isFree = () => {
    const { name, instructions } = props.form.fields
    return (
      STARTERS.some((one) => textOf(one, 'name') === name && textOf(one, 'instructions') === instructions) || name + instructions === ''
    )
  }
  const fill = (starter: Starter) => {
    props.form.change('name', textOf(starter, 'name'))
    props.form.change('instructions', textOf(starter, 'instructions'))
  }
  return (
    <Show when={isFree()}>
      <div class="flex flex-wrap items-center gap-2 text-sm text-ink-3">
        {t('agents.examples')}
        <For each={STARTERS}>
          {(starter) => (
            <Button size="sm" title={textOf(starter, 'what')} onClick={() => fill(starter)}>
              {textOf(starter, 'name')}
            </Button>
          )}
        </For>
      </div>
    </Show>
  )
}
