import { For, type JSX, Show } from 'solid-js'
import { useJobMemories } from '../../api/queries.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { t } from '../../lib/language.ts'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'

/** The memories that a job received, as they were then. Shows nothing when there were none. */
export function JobMemories(props: { jobId: string }): JSX.Element {
  const answer = useJobMemories(() => props.jobId)
  const memories = () => answer.data?.memories ?? []
  return (
    <Show when={memories().length > 0}>
      <Panel title={t('memory.ofJob')} description={t('memory.ofJobText')}>
        <ul class="flex flex-col gap-1.5">
          <For each={memories()}>
            {(memory) => (
              <li class="flex flex-wrap items-baseline gap-x-2 gap-y-0.5 text-sm">
                <span class="min-w-0 wrap-anywhere whitespace-pre-wrap text-ink">{visibleText(memory.text)}</span>
                <span class="text-xs text-ink-3">{t(`memory.via.${memory.via}`)}</span>
                <Show when={memory.untrusted}>
                  <Pill tone="warn" title={t('memory.untrustedWhy')}>
                    {t('memory.untrusted')}
                  </Pill>
                </Show>
              </li>
            )}
          </For>
        </ul>
      </Panel>
    </Show>
  )
}
