import { A } from '@solidjs/router'
import BookOpen from 'lucide-solid/icons/book-open'
import { For, type JSX, Show } from 'solid-js'
import type { Skill } from '../../../src-runner/contract/skills.ts'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { ArrowList } from '../../ui/ArrowList.tsx'
import { IconTile } from '../../ui/IconTile.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { originText, SKILL_TONES } from './skill.ts'

/** Each row leads to the page of a skill. */
export function SkillList(props: { skills: readonly Skill[] }): JSX.Element {
  return (
    <ArrowList label={t('skills.list')} class="overflow-hidden rounded-xl border border-line bg-surface">
      <For each={props.skills}>
        {(skill) => (
          <li class="border-t border-line first:border-t-0">
            <A
              href={`/skills/${skill.id}`}
              data-row
              class="flex items-start gap-3 px-4 py-3 hover:bg-hover focus-visible:-outline-offset-2"
            >
              <IconTile icon={BookOpen} />
              <div class="flex min-w-0 flex-1 flex-wrap items-start gap-x-4 gap-y-1">
                <div class="min-w-52 flex-1">
                  <div class="font-medium wrap-anywhere text-ink">{visibleText(skill.name)}</div>
                  <p class="line-clamp-2 text-xs wrap-anywhere text-ink-2">{visibleText(skill.description)}</p>
                  <p class="truncate text-xs text-ink-3" title={visibleText(skill.source)}>
                    {originText(skill)}
                  </p>
                </div>
                <div class="w-36 min-w-0 truncate text-xs text-ink-2 max-md:w-full">
                  <Show when={skill.agents.length > 0} fallback={<span class="text-ink-3">{t('skills.noAgent')}</span>}>
                    {skill.agents.map(({ agentName }) => visibleText(agentName)).join(', ')}
                  </Show>
                </div>
                <div class="flex w-36 flex-wrap justify-end gap-1 max-md:w-full max-md:justify-start">
                  <SkillState skill={skill} />
                </div>
              </div>
            </A>
          </li>
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
