import ShieldAlert from 'lucide-solid/icons/shield-alert'
import ShieldCheck from 'lucide-solid/icons/shield-check'
import { createSignal, For, type JSX, Show } from 'solid-js'
import type { SkillContents, SkillFinding } from '../../../src-runner/contract/skills.ts'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { groupFindings, placeOf } from './skill.ts'

/** More of the same kind are shown when the person asks. */
const AT_ONCE = 3

/** What a look at all files found, in a sentence for each kind. It decides nothing. `isUpdate`: only what is new in an update. */
export function Verdict(props: { contents: Pick<SkillContents, 'findings' | 'findingsCut'>; isUpdate?: boolean }): JSX.Element {
  const count = () => props.contents.findings.length
  return (
    <section aria-label={t('skills.verdict.title')}>
      <Show
        when={count() > 0}
        fallback={
          <div class="flex items-start gap-2.5 rounded-lg border border-line bg-inset px-4 py-3">
            <ShieldCheck size={17} class="mt-0.5 shrink-0 text-ok" aria-hidden="true" />
            <p class="text-sm text-ink">
              {t(props.isUpdate ? 'skills.verdict.nothingNew' : 'skills.verdict.nothing')}{' '}
              <span class="text-ink-2">{t('skills.verdict.noProof')}</span>
            </p>
          </div>
        }
      >
        <div class="overflow-hidden rounded-lg border border-line">
          <div class="flex items-start gap-2.5 bg-warn-soft px-4 py-3">
            <ShieldAlert size={17} class="mt-0.5 shrink-0 text-warn" aria-hidden="true" />
            <p class="text-sm font-medium text-ink">
              {t(props.contents.findingsCut ? 'skills.verdict.many' : props.isUpdate ? 'skills.verdict.foundNew' : 'skills.verdict.found', {
                count: count(),
              })}
            </p>
          </div>
          <ul>
            <For each={groupFindings(props.contents.findings)}>{([kind, findings]) => <Group kind={kind} findings={findings} />}</For>
          </ul>
        </div>
      </Show>
    </section>
  )
}

function Group(props: { kind: SkillFinding['kind']; findings: readonly SkillFinding[] }): JSX.Element {
  const [all, setAll] = createSignal(false)
  const shown = () => (all() ? props.findings : props.findings.slice(0, AT_ONCE))
  const hidden = () => props.findings.length - shown().length
  return (
    <li class="border-t border-line px-4 py-2.5">
      <p class="text-sm text-ink">{t(`skills.findings.${props.kind}`)}</p>
      <ul class="mt-1 flex flex-col gap-1.5">
        <For each={shown()}>
          {(finding) => (
            <li class="text-xs">
              <span class="font-mono wrap-anywhere text-ink-2">{placeOf(finding)}</span>
              <Show when={finding.excerpt}>
                {(excerpt) => (
                  <code class="mt-0.5 block rounded-sm bg-inset px-2 py-1 font-mono wrap-anywhere whitespace-pre-wrap text-ink-2">
                    {visibleText(excerpt())}
                  </code>
                )}
              </Show>
            </li>
          )}
        </For>
      </ul>
      <Show when={hidden() > 0}>
        <button
          type="button"
          class="mt-1 inline-flex items-center text-xs font-medium text-accent-ink hover:underline max-md:min-h-10"
          onClick={() => setAll(true)}
        >
          {t('skills.verdict.more', { count: hidden() })}
        </button>
      </Show>
    </li>
  )
}
