import Search from 'lucide-solid/icons/search'
import { createSignal, For, type JSX, Show } from 'solid-js'
import type { RouteAnswer } from '../../../../src-runner/contract/routes.ts'
import type { McpDraft } from '../../../../src-runner/contract/mcp-drafts.ts'
import { sentenceOf } from '../../../api/problem.ts'
import { useAction } from '../../../api/mutations.ts'
import { useMcpRegistry } from '../../../api/queries.ts'
import { t } from '../../../lib/language.ts'
import { Button } from '../../../ui/Button.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { TextField } from '../../../ui/TextField.tsx'
import { DraftCard, SkippedDrafts } from './DraftCard.tsx'

type RegistryPage = RouteAnswer<'searchMcpRegistry'>

/** The public registry. Anybody may publish there, so every entry is shown with exactly what it would run. */
export function FromRegistry(props: { onDraft: (draft: McpDraft) => void }): JSX.Element {
  const [words, setWords] = createSignal('')
  const found = useMcpRegistry(() => (words().trim().length < 2 ? null : words().trim()))
  const search = useAction('searchMcpRegistry')
  /** Pages behind the first one, which they belong to. */
  const [further, setFurther] = createSignal<{ of: RegistryPage | undefined; pages: RegistryPage[] }>({ of: undefined, pages: [] })
  const pages = () => (found.data === undefined ? [] : [found.data, ...(further().of === found.data ? further().pages : [])])
  const showMore = async () => {
    const [first, ...rest] = pages()
    const cursor = pages().at(-1)?.nextCursor
    if (cursor == null) return
    const page = await search.run({ query: { q: words().trim(), cursor } }).catch(() => null)
    if (page !== null) setFurther({ of: first, pages: [...rest, page] })
  }
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
          {
            <div class="flex flex-col gap-3" aria-live="polite">
              <For
                each={pages().flatMap(({ servers }) => servers)}
                fallback={<p class="py-4 text-center text-sm text-ink-3">{t('common.nothingFound')}</p>}
              >
                {(draft) => <DraftCard draft={draft} action={t('connections.mcp.review.next')} onAction={() => props.onDraft(draft)} />}
              </For>
              <SkippedDrafts skipped={pages().flatMap(({ skipped }) => skipped)} />
              <Show when={search.error}>
                {(error) => (
                  <p role="alert" class="text-sm text-bad">
                    {sentenceOf(error())}
                  </p>
                )}
              </Show>
              <Show when={pages().at(-1)?.nextCursor}>
                <Button class="self-center" busy={search.isRunning} onClick={() => void showMore()}>
                  {t('common.more')}
                </Button>
              </Show>
            </div>
          }
        </Show>
      </Show>
    </div>
  )
}
