import { createSignal, For, type JSX, Show } from 'solid-js'
import type { SkillContents } from '../../../src-runner/contract/skills.ts'
import { bytesText } from '../../../resources/locales/numbers.ts'
import { locale, t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { Fold } from '../../ui/Fold.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { NumberedText } from './SkillText.tsx'

const FIRST_FILES = 20

/** What a skill asks for and who made it, line by line. */
export function SkillFacts(props: { contents: SkillContents }): JSX.Element {
  const scripts = () => props.contents.files.filter(({ isScript }) => isScript)
  return (
    <dl class="flex flex-col gap-1.5 text-sm">
      <Fact label={t('skills.facts.scripts')}>
        <Show when={scripts().length > 0} fallback={<None />}>
          {t('skills.facts.scriptCount', { count: scripts().length })}
        </Show>
      </Fact>
      <Names label={t('skills.facts.programs')} names={props.contents.programs} />
      <Names label={t('skills.facts.hosts')} names={props.contents.hosts} />
      <Names label={t('skills.facts.tools')} names={props.contents.allowedTools} />
      <Fact label={t('skills.facts.author')}>{textOr(props.contents.author)}</Fact>
      <Fact label={t('skills.facts.licence')}>{textOr(props.contents.license)}</Fact>
      <Show when={props.contents.version}>{(version) => <Fact label={t('skills.facts.version')}>{visibleText(version())}</Fact>}</Show>
      <Show when={props.contents.compatibility}>
        {(needs) => <Fact label={t('skills.facts.compatibility')}>{visibleText(needs())}</Fact>}
      </Show>
      <Fact label={t('skills.facts.size')}>
        {t('skills.facts.sizeText', { size: bytesText(props.contents.totalBytes, locale()), count: props.contents.files.length })}
      </Fact>
    </dl>
  )
}

function textOr(text: string | null): JSX.Element {
  return text === null ? <span class="text-ink-3">{t('skills.facts.unknown')}</span> : visibleText(text)
}

function Names(props: { label: string; names: readonly string[] }): JSX.Element {
  return (
    <Fact label={props.label}>
      <Show when={props.names.length > 0} fallback={<None />}>
        <span class="flex flex-wrap gap-1">
          <For each={props.names}>
            {(name) => <code class="rounded-sm bg-hover px-1.5 font-mono text-xs leading-5 wrap-anywhere">{visibleText(name)}</code>}
          </For>
        </span>
      </Show>
    </Fact>
  )
}

function Fact(props: { label: string; children: JSX.Element }): JSX.Element {
  return (
    <div class="flex items-start gap-4 max-sm:flex-wrap max-sm:gap-y-0">
      <dt class="w-36 shrink-0 text-ink-3 max-sm:w-full">{props.label}</dt>
      <dd class="min-w-0 flex-1 wrap-anywhere text-ink">{props.children}</dd>
    </div>
  )
}

function None(): JSX.Element {
  return <span class="text-ink-3">{t('skills.facts.none')}</span>
}

/** All files, scripts marked. Those with a text can be opened. */
export function FileList(props: { files: SkillContents['files']; textOf: (path: string) => string | undefined }): JSX.Element {
  const [all, setAll] = createSignal(false)
  const shown = () => (all() ? props.files : props.files.slice(0, FIRST_FILES))
  const hidden = () => props.files.length - shown().length
  return (
    <>
      <ul aria-label={t('skills.facts.files')} class="flex flex-col">
        <For each={shown()}>{(file) => <File file={file} text={props.textOf(file.path)} />}</For>
      </ul>
      <Show when={hidden() > 0}>
        <button type="button" class="mt-1 text-xs font-medium text-accent-ink hover:underline max-md:min-h-10" onClick={() => setAll(true)}>
          {t('skills.facts.moreFiles', { count: hidden() })}
        </button>
      </Show>
    </>
  )
}

function File(props: { file: SkillContents['files'][number]; text: string | undefined }): JSX.Element {
  const row = () => (
    <>
      <span class="min-w-0 flex-1 font-mono wrap-anywhere text-ink">{visibleText(props.file.path)}</span>
      <Show when={props.file.isScript}>
        <Pill>{t('skills.facts.script')}</Pill>
      </Show>
      <span class="w-20 shrink-0 text-right text-ink-3">{bytesText(props.file.bytes, locale())}</span>
    </>
  )
  return (
    <li class="text-xs">
      <Show when={props.text !== undefined} fallback={<span class="flex min-h-7 items-center gap-2 pl-4.5">{row()}</span>}>
        <Fold wide label={row()}>
          <div class="mb-2 pt-1">
            <NumberedText label={visibleText(props.file.path)} text={props.text!} />
          </div>
        </Fold>
      </Show>
    </li>
  )
}
