import Search from 'lucide-solid/icons/search'
import { createSignal, For, type JSX, Show } from 'solid-js'
import type { McpDraft } from '../../../../src-runner/contract/mcp-drafts.ts'
import { sentenceOf } from '../../../api/problem.ts'
import { useMcpRegistry } from '../../../api/queries.ts'
import { t } from '../../../lib/language.ts'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { TextField } from '../../../ui/TextField.tsx'
import { DraftCard, SkippedDrafts } from './DraftCard.tsx'

/** The public registry. Anybody may publish there, so every entry is shown with exactly what it would run. */
export function FromRegistry(props: { onDraft: (draft: McpDraft) => void }): JSX.Element {
  const [words, setWords] = createSignal('')
  const found = useMcpRegistry(() => (words().trim().length < 2 ? null : words().trim()))
  return (
    <div class="flex flex-col gap-3">
      <TextField
        type="search"
        icon={Search}
        label={t('connections.mcp.registry.search')}
        hint={t('connections.mcp.registry.about')}
        value={words()}
        onValue={setWords}
        problem={found.error ? sentenceOf(found.error) : null}
      />
      <Show when={words().trim().length >= 2 && !found.error}>
        <Show when={found.data} fallback={<Skeleton rows={4} />}>
          {(data) => (
            <div class="flex flex-col gap-3" aria-live="polite">
              <For each={data().servers} fallback={<p class="py-4 text-center text-sm text-ink-3">{t('common.nothingFound')}</p>}>
                {(draft) => <DraftCard draft={draft} action={t('connections.mcp.review.next')} onAction={() => props.onDraft(draft)} />}
              </For>
              <SkippedDrafts skipped={data().skipped} />
            </div>
          )}
        </Show>
      </Show>
    </div>
  )
}
