import ChevronRight from 'lucide-solid/icons/chevron-right'
import Search from 'lucide-solid/icons/search'
import { createSignal, For, type JSX, Show } from 'solid-js'
import type { FoundSkill } from '../../../src-runner/contract/skills.ts'
import { FormProblem } from '../../features/forms/FormProblem.tsx'
import { t } from '../../lib/language.ts'
import { messageText } from '../../lib/message-text.ts'
import { matchesWords } from '../../lib/text.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { ArrowList } from '../../ui/ArrowList.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { TextField } from '../../ui/TextField.tsx'

/** Fewer are found at a glance. */
const SEARCH_FROM = 8

/** The skills of a source that has several. */
export function ChooseSkill(props: {
  found: readonly FoundSkill[]
  isReading: boolean
  error: unknown
  onChoose: (found: FoundSkill) => void
  onBack: () => void
  onClose: () => void
}): JSX.Element {
  const [query, setQuery] = createSignal('')
  const shown = () => props.found.filter(({ name, description, folder }) => matchesWords(`${name} ${description} ${folder}`, query()))
  return (
    <Dialog
      open
      size="lg"
      onClose={props.onClose}
      title={t('skills.choose.title')}
      description={t('skills.choose.count', { count: props.found.length })}
      actions={<Button onClick={() => props.onBack()}>{t('common.back')}</Button>}
    >
      <div class="flex flex-col gap-3">
        <Show when={props.found.length >= SEARCH_FROM}>
          <TextField
            type="search"
            icon={Search}
            label={t('skills.search')}
            hideLabel
            placeholder={t('skills.search')}
            value={query()}
            onValue={setQuery}
          />
        </Show>
        <FormProblem error={props.error} />
        <Show when={shown().length > 0} fallback={<p class="py-6 text-center text-sm text-ink-3">{t('skills.nothingFound')}</p>}>
          <ArrowList label={t('skills.choose.title')} class="overflow-hidden rounded-lg border border-line">
            <For each={shown()}>
              {(one) => (
                <li class="border-t border-line first:border-t-0">
                  <button
                    type="button"
                    data-row
                    disabled={props.isReading || one.problem !== null}
                    class="flex w-full items-center gap-3 px-4 py-2.5 text-left hover:bg-hover focus-visible:-outline-offset-2 disabled:hover:bg-transparent"
                    onClick={() => props.onChoose(one)}
                  >
                    <span class="min-w-0 flex-1">
                      <span class="flex flex-wrap items-center gap-2">
                        <span class="font-medium wrap-anywhere text-ink">{visibleText(one.name)}</span>
                        <Show when={one.installedSkillId !== null}>
                          <Pill>{t('skills.choose.installed')}</Pill>
                        </Show>
                      </span>
                      <Show
                        when={one.problem}
                        fallback={<span class="line-clamp-2 text-xs wrap-anywhere text-ink-2">{visibleText(one.description)}</span>}
                      >
                        {(problem) => <span class="block text-xs wrap-anywhere text-bad">{messageText(problem())}</span>}
                      </Show>
                    </span>
                    <Show when={one.problem === null}>
                      <ChevronRight size={15} class="shrink-0 text-ink-3" aria-hidden="true" />
                    </Show>
                  </button>
                </li>
              )}
            </For>
          </ArrowList>
        </Show>
        <Show when={props.isReading}>
          <p role="status" class="text-xs text-ink-3">
            {t('skills.install.reading')}
          </p>
        </Show>
      </div>
    </Dialog>
  )
}
