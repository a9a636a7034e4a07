import { For, type JSX, Show } from 'solid-js'
import type { Skill } from '../../../src-runner/contract/skills.ts'
import { compactText } from '../../../resources/locales/numbers.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import { useAgents } from '../../api/queries.ts'
import { SkillSwitch } from '../../features/skills/SkillSwitch.tsx'
import { locale, t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Panel } from '../../ui/Panel.tsx'

/** Which agents have a skill. */
export function SkillAgents(props: { skill: Skill }): JSX.Element {
  const agents = useAgents()
  return (
    <Panel title={t('skills.agents.title')} description={t('skills.agents.about', { tokens: compactText(props.skill.tokens, locale()) })}>
      <Show when={agents.data} fallback={<AnswerState compact rows={2} answer={agents} />}>
        {(data) => (
          <Show when={data().agents.length > 0} fallback={<p class="text-sm text-ink-3">{t('connections.agents.none')}</p>}>
            <ul class="flex flex-col gap-2">
              <For each={data().agents}>
                {(agent) => (
                  <li class="flex items-center gap-2.5">
                    <Avatar size="sm" name={agent.name} text={agent.avatar} />
                    <div class="min-w-0 flex-1">
                      <SkillSwitch skill={props.skill} agentId={agent.id} label={visibleText(agent.name)} />
                    </div>
                  </li>
                )}
              </For>
            </ul>
          </Show>
        )}
      </Show>
    </Panel>
  )
}
