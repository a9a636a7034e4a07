import BookOpen from 'lucide-solid/icons/book-open'
import { For, type JSX, Show } from 'solid-js'
import type { Skill } from '../../../src-runner/contract/skills.ts'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { ArrowList } from '../../ui/ArrowList.tsx'
import { IconTile } from '../../ui/IconTile.tsx'
import { LinkRow, LinkRowNames } from '../../ui/LinkRow.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { originText, SKILL_TONES } from './skill.ts'

/** Each row leads to the page of a skill. */
export function SkillList(props: { skills: readonly Skill[] }): JSX.Element {
  return (
    <ArrowList label={t('skills.list')} class="overflow-hidden rounded-xl border border-line bg-surface">
      <For each={props.skills}>
        {(skill) => (
          <LinkRow
            href={`/skills/${skill.id}`}
            icon={<IconTile icon={BookOpen} />}
            lead={
              <>
                <div class="font-medium wrap-anywhere text-ink">{visibleText(skill.name)}</div>
                <p class="line-clamp-2 text-xs wrap-anywhere text-ink-2">{visibleText(skill.description)}</p>
                <p class="truncate text-xs text-ink-3" title={visibleText(skill.source)}>
                  {originText(skill)}
                </p>
              </>
            }
            state={<SkillState skill={skill} />}
          >
            <LinkRowNames names={skill.agents.map(({ agentName }) => visibleText(agentName))} none={t('skills.noAgent')} />
          </LinkRow>
        )}
      </For>
    </ArrowList>
  )
}

/** Its state in a word, and that there is an update. */
export function SkillState(props: { skill: Skill }): JSX.Element {
  return (
    <>
      <Show when={!(props.skill.status === 'ready' && props.skill.hasUpdate)}>
        <Pill tone={SKILL_TONES[props.skill.status]}>{t(`skills.status.${props.skill.status}`)}</Pill>
      </Show>
      <Show when={props.skill.hasUpdate}>
        <Pill tone="accent">{t('skills.status.update')}</Pill>
      </Show>
    </>
  )
}
