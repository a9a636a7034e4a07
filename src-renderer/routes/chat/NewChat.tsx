import Bot from 'lucide-solid/icons/bot'
import { For, Match, Switch } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { problemOf } from '../../api/problem.ts'
import type { useAgents } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'

const SUGGESTIONS = ['introduce', 'folder', 'plan'] as const

/** A chat before its first message: the agent, and suggestions for what to write. */
export function NewChat(props: { agents: ReturnType<typeof useAgents>; agent: Agent | undefined; onSuggestion: (text: string) => void }) {
  return (
    <div class="scroll-quiet flex min-h-0 flex-1 flex-col justify-center overflow-y-auto px-6 py-8 max-sm:px-3">
      <Switch>
        <Match when={props.agents.error && props.agents.data === undefined}>
          <div class="mx-auto w-full max-w-xl">
            <ErrorState problem={problemOf(props.agents.error)} onRetry={props.agents.retry} />
          </div>
        </Match>
        <Match when={props.agents.isPending}>
          <Skeleton rows={3} class="mx-auto w-full max-w-xl" />
        </Match>
        <Match when={props.agent}>
          {(agent) => (
            <div class="mx-auto flex w-full max-w-xl flex-col items-center text-center">
              <Avatar name={agent().name} text={agent().avatar} size="lg" />
              <h2 class="mt-4 text-xl font-semibold tracking-tight text-balance text-ink">
                {t('chat.emptyTitle', { agent: agent().name })}
              </h2>
              <p class="mt-1 text-sm text-pretty text-ink-2">{t('chat.emptyText')}</p>
              <ul class="mt-6 flex w-full flex-col gap-2" aria-label={t('chat.suggestions')}>
                <For each={SUGGESTIONS.map((one) => t(`chat.suggested.${one}`))}>
                  {(text) => (
                    <li>
                      <button
                        type="button"
                        class="w-full rounded-lg border border-line px-3.5 py-2.5 text-left text-sm text-ink-2 transition-colors duration-100 hover:border-line-strong hover:bg-hover hover:text-ink"
                        onClick={() => props.onSuggestion(text)}
                      >
                        {text}
                      </button>
                    </li>
                  )}
                </For>
              </ul>
            </div>
          )}
        </Match>
        <Match when={true}>
          <EmptyState
            icon={Bot}
            title={t('chat.noAgents')}
            action={
              <ButtonLink variant="primary" href="/agents/new">
                {t('chat.createAgent')}
              </ButtonLink>
            }
          >
            {t('chat.noAgentsWhy')}
          </EmptyState>
        </Match>
      </Switch>
    </div>
  )
}
