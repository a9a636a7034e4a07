import { For, type JSX, Show } from 'solid-js'
import { useJobMemories } from '../api/queries.ts'
import { visibleText } from '../kit/visible-text.ts'
import { words } from '../kit/words/words.ts'
import { Panel } from '../ui/Panel.tsx'
import { Pill } from '../ui/Pill.tsx'

/** What a job was given of the agent's memory, as it read it then. Not there when it was given none. */
export function JobMemories(props: { jobId: string }): JSX.Element {
  const text = () => words().memory
  const answer = useJobMemories(() => props.jobId)
  const memories = () => answer.data?.memories ?? []
  return (
    <Show when={memories().length > 0}>
      <Panel title={text().ofJob} description={text().ofJobText}>
        <ul class="flex flex-col gap-1.5">
          <For each={memories()}>
            {(memory) => (
              <li class="flex flex-wrap items-baseline gap-x-2 gap-y-0.5 text-sm">
                <span class="min-w-0 wrap-anywhere whitespace-pre-wrap text-ink">{visibleText(memory.text)}</span>
                <span class="text-xs text-ink-3">{text().via[memory.via]}</span>
                <Show when={memory.untrusted}>
                  <Pill tone="warn" title={text().untrustedWhy}>
                    {text().untrusted}
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
