import { For, type JSX, Show } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { Skill } from '../../../src-runner/contract/skills.ts'
import { compactText } from '../../../resources/locales/numbers.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import { useMay } from '../../api/may.ts'
import { useSkills } from '../../api/queries.ts'
import { SkillSwitch } from '../../features/skills/SkillSwitch.tsx'
import { locale, t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { Panel } from '../../ui/Panel.tsx'

/** Which of the installed skills an agent has, and what each costs. */
export function SkillsPanel(props: { agent: Agent }): JSX.Element {
  const answer = useSkills()
  const may = useMay()
  const skills = () => answer.data?.skills.filter(({ entityId }) => entityId === props.agent.entityId) ?? []
  const hint = ({ status, tokens }: Skill) =>
    status === 'ready' ? t('connections.mcp.perTurn', { tokens: compactText(tokens, locale()) }) : t(`skills.status.${status}`)
  return (
    <Panel
      id="skills"
      title={t('skills.title')}
      description={t('agents.skills.about')}
      actions={
        <Show when={may('installSkill')}>
          <ButtonLink size="sm" href={`/skills?install=1&agent=${props.agent.id}`}>
            {t('skills.install.open')}
          </ButtonLink>
        </Show>
      }
    >
      <Show when={answer.data} fallback={<AnswerState compact rows={2} answer={answer} />}>
        <Show when={skills().length > 0} fallback={<p class="text-sm text-ink-3">{t('agents.skills.none')}</p>}>
          <ul class="flex flex-col gap-2.5">
            <For each={skills()}>
              {(skill) => (
                <li>
                  <SkillSwitch skill={skill} agentId={props.agent.id} label={visibleText(skill.name)} hint={hint(skill)} />
                </li>
              )}
            </For>
          </ul>
        </Show>
      </Show>
    </Panel>
  )
}
