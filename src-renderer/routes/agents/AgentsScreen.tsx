import { A } from '@solidjs/router'
import Bot from 'lucide-solid/icons/bot'
import Folder from 'lucide-solid/icons/folder'
import MessageSquare from 'lucide-solid/icons/message-square'
import Plus from 'lucide-solid/icons/plus'
import { For, Match, Show, Switch } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { RouteAnswer } from '../../../src-runner/contract/routes.ts'
import { NothingYet } from '../../api/NothingYet.tsx'
import { useAgents, useJobs, useModels, useSpend } from '../../api/queries.ts'
import { moneyText } from '../../../resources/locales/numbers.ts'
import { startOfDayBefore } from '../../lib/time.ts'
import { locale, t } from '../../lib/language.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { StatusBadge } from '../../ui/StatusBadge.tsx'
import { modelLabel } from './ModelField.tsx'

const DAYS_OF_SPEND = 30
const LAST_RUNS = 5

export function AgentsScreen() {
  const agents = useAgents()
  const models = useModels()
  const spend = useSpend(() => ({ by: 'agent', from: startOfDayBefore(Date.now(), DAYS_OF_SPEND - 1) }))
  return (
    <Screen>
      <PageHeader
        title={t('agents.title')}
        description={t('agents.intro')}
        actions={
          <ButtonLink variant="primary" icon={Plus} href="/agents/new">
            {t('agents.newAgent')}
          </ButtonLink>
        }
      />
      <Switch>
        <Match when={(agents.data?.agents.length ?? 0) === 0}>
          <NothingYet answer={agents}>
            <EmptyState
              icon={Bot}
              title={t('agents.emptyTitle')}
              action={
                <ButtonLink variant="primary" icon={Plus} href="/agents/new">
                  {t('agents.newAgent')}
                </ButtonLink>
              }
            >
              {t('agents.emptyText')}
            </EmptyState>
          </NothingYet>
        </Match>
        <Match when={agents.data}>
          {(data) => (
            <ul class="grid grid-cols-[repeat(auto-fill,minmax(min(100%,20rem),1fr))] gap-4">
              <For each={data().agents}>
                {(agent) => <AgentCard agent={agent} models={models.data} spent={spend.data?.rows.find((row) => row.key === agent.id)} />}
              </For>
            </ul>
          )}
        </Match>
      </Switch>
    </Screen>
  )
}

function AgentCard(props: {
  agent: Agent
  models: RouteAnswer<'listModels'> | undefined
  spent: RouteAnswer<'getSpend'>['rows'][number] | undefined
}) {
  const jobs = useJobs(() => ({ agentId: props.agent.id, limit: LAST_RUNS }))
  const model = () => {
    const own = props.agent.model ?? props.models?.defaultModel ?? null
    if (own === null) return t('agents.useDefaultNone')
    return modelLabel(own, props.models)
  }
  return (
    <li class="relative flex flex-col gap-3 rounded-xl border border-line bg-surface p-4 shadow-card transition-colors duration-100 hover:border-line-strong">
      <div class="flex items-start gap-3">
        <Avatar name={props.agent.name} text={props.agent.avatar} size="lg" />
        <div class="min-w-0 flex-1">
          <div class="flex min-w-0 items-center gap-2">
            <h2 class="min-w-0 truncate text-md font-semibold text-ink">
              {/* The whole card leads to the agent; its own links lie above. */}
              <A
                href={`/agents/${props.agent.id}`}
                class="after:absolute after:inset-0 after:rounded-xl focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-accent-ink"
              >
                {props.agent.name}
              </A>
            </h2>
            <Show when={props.agent.isDefault}>
              <Pill tone="accent" title={t('agents.isDefaultWhy')}>
                {t('agents.isDefault')}
              </Pill>
            </Show>
          </div>
          <p
            class={`truncate text-xs ${props.agent.model === null && props.models !== undefined && props.models.defaultModel === null ? 'text-warn' : 'text-ink-3'}`}
          >
            {model()}
          </p>
        </div>
      </div>
      <Show when={props.agent.instructions.trim()}>
        <p class="line-clamp-2 text-sm text-ink-2">{props.agent.instructions}</p>
      </Show>
      <div class="flex flex-wrap items-center gap-1.5">
        <Pill>{t(`agents.autonomyOf.${props.agent.autonomy}`)}</Pill>
        <Pill title={props.agent.folders.join('\n')}>
          <Folder size={12} aria-hidden="true" />
          {t('agents.folders', { count: props.agent.folders.length })}
        </Pill>
      </div>
      <div class="mt-auto flex items-center gap-3 border-t border-line pt-3">
        <div class="flex min-w-0 flex-1 flex-wrap items-center gap-x-2 text-xs text-ink-3">
          <Show when={jobs.items.length > 0} fallback={<Show when={!jobs.isPending}>{t('agents.noJobs')}</Show>}>
            <ul class="-ml-1 flex items-center" aria-label={t('agents.recentJobs')}>
              <For each={jobs.items.slice(0, LAST_RUNS)}>
                {(job) => (
                  <li class="relative z-1 flex">
                    <A href={`/jobs/${job.id}`} title={job.title} class="rounded-full p-1 hover:bg-hover">
                      <StatusBadge status={job.status} show="icon" />
                    </A>
                  </li>
                )}
              </For>
            </ul>
          </Show>
          <Show when={props.spent}>
            {(spent) => (
              <span title={t('agents.spentTitle')}>
                {t('agents.spent', {
                  money: spent().costUsd === 0 && spent().unpricedCalls > 0 ? t('common.unpriced') : moneyText(spent().costUsd, locale()),
                })}
              </span>
            )}
          </Show>
        </div>
        <ButtonLink size="sm" icon={MessageSquare} href={`/chat?agent=${props.agent.id}`} class="relative z-1">
          {t('agents.chat')}
        </ButtonLink>
      </div>
    </li>
  )
}
