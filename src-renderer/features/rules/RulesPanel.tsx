import { A } from '@solidjs/router'
import Plus from 'lucide-solid/icons/plus'
import Scale from 'lucide-solid/icons/scale'
import Trash from 'lucide-solid/icons/trash'
import { createMemo, createSignal, For, type JSX, Match, Show, Switch } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { Rule, RuleEffect, RuleText } from '../../../src-runner/contract/rules.ts'
import { useMay } from '../../api/may.ts'
import { useAction, useDeleteRule } from '../../api/mutations.ts'
import { NothingYet } from '../../api/NothingYet.tsx'
import { useAgents, useRules, useTools } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { t } from '../../lib/language.ts'
import { VerdictMark } from '../approvals/DecisionTrace.tsx'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { IconButton } from '../../ui/IconButton.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { RuleForm } from './RuleForm.tsx'
import { ruleSentence } from './rule-sentence.ts'

const VERDICTS: Record<RuleEffect, 'run' | 'ask' | 'deny'> = { allow: 'run', ask: 'ask', deny: 'deny' }
const EXAMPLE: Partial<RuleText> = { effect: 'allow', tool: 'run_command', pattern: 'git status*' }

type Group = { key: string; title: string; rules: Rule[] }

/** All rules, or those that apply to an agent. Deleting a rule can be undone for a moment. */
export function RulesPanel(props: { agent: Agent | null }): JSX.Element {
  const agents = useAgents()
  const tools = useTools()
  const rules = useRules(() => props.agent?.id ?? null)
  const may = useMay()
  const [adding, setAdding] = createSignal<Partial<RuleText> | null>(null)
  const allAgents = () => agents.data?.agents ?? []

  const groups = createMemo((): Group[] => {
    const everyone: Group = { key: 'everyone', title: t('rules.everyone'), rules: [] }
    const byAgent = new Map<string, Group>()
    if (props.agent !== null)
      byAgent.set(props.agent.id, { key: props.agent.id, title: t('rules.onlyFor', { agent: props.agent.name }), rules: [] })
    for (const rule of rules.items) {
      if (rule.agentId === null) {
        everyone.rules.push(rule)
        continue
      }
      const name = allAgents().find((agent) => agent.id === rule.agentId)?.name
      const group = byAgent.get(rule.agentId) ?? {
        key: rule.agentId,
        title: name === undefined ? t('rules.goneAgent') : t('rules.onlyFor', { agent: name }),
        rules: [],
      }
      group.rules.push(rule)
      byAgent.set(rule.agentId, group)
    }
    return [...byAgent.values(), everyone].filter((group) => group.rules.length > 0 || group.key === props.agent?.id)
  })

  return (
    <Panel
      title={t('rules.title')}
      description={t('rules.order')}
      actions={
        <Show when={may('createRule') && adding() === null}>
          <Button size="sm" icon={Plus} onClick={() => setAdding({})}>
            {t('rules.add')}
          </Button>
        </Show>
      }
    >
      <div class="flex flex-col gap-4">
        <Show when={adding()}>
          {(first) => (
            <RuleForm
              agents={allAgents()}
              tools={tools.data?.tools ?? []}
              agent={props.agent}
              first={first()}
              onDone={() => setAdding(null)}
            />
          )}
        </Show>
        <Switch>
          <Match when={rules.items.length === 0 && (rules.isPending || rules.error || (adding() === null && props.agent === null))}>
            <NothingYet answer={rules} rows={3} compact>
              <EmptyState
                compact
                icon={Scale}
                title={t('rules.none')}
                action={
                  <Show when={may('createRule')}>
                    <Button onClick={() => setAdding(EXAMPLE)}>{t('rules.example')}</Button>
                  </Show>
                }
              >
                {t(may('createRule') ? 'rules.noneText' : 'rules.noneMember')}
              </EmptyState>
            </NothingYet>
          </Match>
          <Match when={true}>
            <For each={groups()}>
              {(group) => (
                <section class="flex flex-col gap-1">
                  <h3 class="text-xs font-semibold text-ink-3">{group.title}</h3>
                  <Show when={group.rules.length > 0} fallback={<p class="text-sm text-ink-3">{t('rules.noneHere')}</p>}>
                    <ul class="flex flex-col">
                      <For each={group.rules}>{(rule) => <RuleLine rule={rule} />}</For>
                    </ul>
                  </Show>
                </section>
              )}
            </For>
          </Match>
        </Switch>
        <Show when={rules.hasMore}>
          <Button size="sm" variant="ghost" class="self-start" busy={rules.isLoadingMore} onClick={rules.more}>
            {t('common.more')}
          </Button>
        </Show>
        <Show when={props.agent}>
          <A href="/rules" class="self-start text-xs font-medium text-accent-ink hover:underline">
            {t('rules.showAll')}
          </A>
        </Show>
      </div>
    </Panel>
  )
}

function RuleLine(props: { rule: Rule }): JSX.Element {
  const remove = useDeleteRule()
  const create = useAction('createRule')
  const may = useMay()
  const sentence = () => ruleSentence(props.rule)
  const deleteNow = async () => {
    // Without its digest, the rule would also allow what was changed since.
    const { effect, tool, pattern, folder, agentId, digest } = props.rule
    try {
      await remove.run({ params: { ruleId: props.rule.id } })
      const undo = () => void create.run({ body: { effect, tool, pattern, folder, agentId, digest } }).catch(toastError)
      toast({ text: t('rules.deleted'), action: { label: t('rules.undo'), onClick: undo } })
    } catch (thrown) {
      toastError(thrown)
    }
  }
  return (
    <li class="-mx-2 flex items-center gap-2.5 rounded-md px-2 py-1 hover:bg-hover">
      <VerdictMark verdict={VERDICTS[props.rule.effect]} size={15} />
      <span class="min-w-0 flex-1 text-sm wrap-anywhere text-ink">
        {sentence()}
        <Show when={props.rule.origin === 'approval'}>
          <span class="text-xs text-ink-3"> · {t('rules.fromApproval')}</span>
        </Show>
      </span>
      <Time at={props.rule.createdAt} class="text-xs text-ink-3 max-sm:hidden" />
      <Show when={may('deleteRule')}>
        <IconButton size="sm" icon={Trash} label={t('rules.delete', { sentence: sentence() })} onClick={() => void deleteNow()} />
      </Show>
    </li>
  )
}
