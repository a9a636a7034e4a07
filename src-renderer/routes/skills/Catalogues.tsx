import Library from 'lucide-solid/icons/library'
import { For, type JSX, Show } from 'solid-js'
import { AnswerState } from '../../api/AnswerState.tsx'
import { useSkillCatalogues } from '../../api/queries.ts'
import { localText, t } from '../../lib/language.ts'
import { IconTile } from '../../ui/IconTile.tsx'

/** Well-known repositories to look through. */
export function Catalogues(props: { onOpen: (slug: string) => void }): JSX.Element {
  const answer = useSkillCatalogues()
  return (
    <section aria-label={t('skills.catalogues.title')}>
      <h2 class="text-sm font-semibold text-ink">{t('skills.catalogues.title')}</h2>
      <p class="mb-3 text-xs text-ink-3">{t('skills.catalogues.about')}</p>
      <Show when={answer.data} fallback={<AnswerState compact answer={answer} rows={2} />}>
        {(data) => (
          <ul class="grid grid-cols-[repeat(auto-fill,minmax(16rem,1fr))] gap-2">
            <For each={data().catalogues}>
              {(catalogue) => (
                <li>
                  <button
                    type="button"
                    class="flex h-full w-full items-start gap-3 rounded-lg border border-line bg-surface px-3 py-3 text-left transition-colors duration-100 hover:border-accent hover:bg-hover"
                    onClick={() => props.onOpen(catalogue.slug)}
                  >
                    <IconTile icon={Library} />
                    <span class="min-w-0 flex-1">
                      <span class="block font-medium text-ink">{catalogue.name}</span>
                      <span class="block text-xs text-pretty text-ink-3">{localText(catalogue.description)}</span>
                    </span>
                  </button>
                </li>
              )}
            </For>
          </ul>
        )}
      </Show>
    </section>
  )
}
