import Eye from 'lucide-solid/icons/eye'
import EyeOff from 'lucide-solid/icons/eye-off'
import { createSignal, Show } from 'solid-js'
import type { CreateProvider, Provider } from '../../../src-runner/contract/providers.ts'
import { BaseUrl } from '../../../src-runner/contract/providers.ts'
import { issueOf, sentenceOf } from '../../api/problem.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { IconButton } from '../../ui/IconButton.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { type AddableKind, KEY_PAGES, needsKey } from './provider-kinds.ts'
import type { Connect } from './use-connect.ts'

export type ProviderDraft = { kind: AddableKind; name: string; baseUrl: string; apiKey: string }

export function emptyDraft(kind: AddableKind): ProviderDraft {
  return { kind, name: t(`models.form.kinds.${kind}`), baseUrl: '', apiKey: '' }
}

export type DraftProblems = { name?: string; baseUrl?: string; apiKey?: string }

/** The problems that can be found before anything is sent. A stored key need not be typed again. */
export function problemsOf(draft: ProviderDraft, hasKey: boolean): DraftProblems {
  const problems: DraftProblems = {}
  const url = draft.baseUrl.trim()
  if (draft.kind === 'openai-compatible' && url === '') problems.baseUrl = t('models.form.needsUrl')
  else if (url !== '' && !BaseUrl.safeParse(url).success) problems.baseUrl = t('models.form.baseUrlHint')
  if (needsKey(draft.kind) && draft.apiKey.trim() === '' && !hasKey) problems.apiKey = t('models.form.needsKey')
  return problems
}

export function requestOf(draft: ProviderDraft): CreateProvider {
  const url = draft.baseUrl.trim()
  const key = draft.apiKey.trim()
  return {
    kind: draft.kind,
    name: draft.name.trim() || t(`models.form.kinds.${draft.kind}`),
    ...(url !== '' && { baseUrl: url }),
    ...(key !== '' && { apiKey: key }),
  }
}

/** The fields of a provider. The key is typed here and never comes back. */
export function ProviderFields(props: {
  draft: ProviderDraft
  onDraft: (draft: ProviderDraft) => void
  problems: DraftProblems
  connect: Connect
  /** The provider to change; undefined for a new one. */
  existing?: Provider
  /** Only the required fields. */
  brief?: boolean
}) {
  const desktop = useDesktop()
  const [isShown, setShown] = createSignal(false)
  const put = (part: Partial<ProviderDraft>) => props.onDraft({ ...props.draft, ...part })
  const keyPage = () => KEY_PAGES[props.draft.kind]
  const wantsUrl = () => props.draft.kind === 'openai-compatible' || props.draft.kind === 'ollama' || props.brief !== true
  const wantsKey = () => props.draft.kind !== 'ollama'
  const urlHint = () =>
    props.draft.kind === 'openai-compatible'
      ? t('models.form.baseUrlHint')
      : props.draft.kind === 'ollama'
        ? t('models.form.ollamaUrlHint')
        : t('models.form.ownUrlHint')
  return (
    <div class="flex flex-col gap-4">
      <Show when={!props.brief}>
        <TextField
          label={t('models.form.name')}
          value={props.draft.name}
          onValue={(name) => put({ name })}
          problem={issueOf(props.connect.error, 'name')}
          maxLength={120}
        />
      </Show>
      <Show when={wantsUrl()}>
        <TextField
          label={t('models.form.baseUrl')}
          optional={props.draft.kind !== 'openai-compatible'}
          type="url"
          mono
          value={props.draft.baseUrl}
          onValue={(baseUrl) => put({ baseUrl })}
          hint={urlHint()}
          problem={props.problems.baseUrl ?? issueOf(props.connect.error, 'baseUrl')}
        />
      </Show>
      <Show when={wantsKey()}>
        <TextField
          label={t('models.form.key')}
          optional={!needsKey(props.draft.kind)}
          type={isShown() ? 'text' : 'password'}
          autocomplete="off"
          data-1p-ignore=""
          mono
          value={props.draft.apiKey}
          onValue={(apiKey) => put({ apiKey })}
          hint={props.existing?.hasKey ? t('models.form.keyKept') : t('models.form.keyHint')}
          problem={props.problems.apiKey ?? issueOf(props.connect.error, 'apiKey')}
          trailing={
            <IconButton
              size="sm"
              icon={isShown() ? EyeOff : Eye}
              label={isShown() ? t('models.form.hideKey') : t('models.form.showKey')}
              onClick={() => setShown((shown) => !shown)}
            />
          }
        />
        <Show when={keyPage()}>
          {(page) => (
            <button
              type="button"
              class="-mt-2 self-start text-xs text-accent-ink hover:underline"
              onClick={() => void desktop.openExternal(page())}
            >
              {t('models.form.keyWhere', { host: new URL(page()).host })}
            </button>
          )}
        </Show>
      </Show>
      <Show when={props.connect.notAccepted}>
        {(refused) => (
          <div role="alert" class="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
            <p>{t('models.form.checkFailed')}</p>
            <p class="text-ink wrap-break-word">{refused().message}</p>
          </div>
        )}
      </Show>
      <Show when={props.connect.error}>
        {(error) => (
          <p role="alert" class="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
            {sentenceOf(error())}
          </p>
        )}
      </Show>
    </div>
  )
}
