import TriangleAlert from 'lucide-solid/icons/triangle-alert'
import { For, type JSX, Match, Show, Switch } from 'solid-js'
import type { TemplatePreview as Preview } from '../../../../src-runner/contract/triggers.ts'
import { sentenceOf } from '../../../api/problem.ts'
import { useTemplatePreview } from '../../../api/queries.ts'
import { t } from '../../../lib/language.ts'
import { TaskText } from '../../../features/chat-turn/TaskText.tsx'

/** The task that the template and the sample make, computed by the runner while the person types. */
export function TemplatePreview(props: { template: string; sample: string }): JSX.Element {
  const isEmpty = () => props.template.trim() === ''
  const preview = useTemplatePreview(() => (isEmpty() ? null : { taskTemplate: props.template, payload: props.sample }))
  return (
    <section aria-label={t('automations.webhook.preview')} class="flex flex-col gap-2">
      <Switch>
        <Match when={isEmpty()}>
          <PreviewTitle />
          <p class="text-sm text-ink-3">{t('automations.webhook.previewEmpty')}</p>
        </Match>
        <Match when={preview.error}>
          <p role="alert" class="text-sm text-bad">
            {sentenceOf(preview.error)}
          </p>
        </Match>
        <Match when={preview.data}>
          {(data) => (
            <>
              <Show when={data().problem}>
                <p role="alert" class="text-sm text-bad">
                  {t('errors.noJson')}
                </p>
              </Show>
              <Show when={data().prompt !== null}>
                <PreviewTitle />
                <Places placeholders={data().placeholders} />
                <TaskText given={data().prompt!} plain={data().plainPrompt} isPreview />
              </Show>
            </>
          )}
        </Match>
      </Switch>
    </section>
  )
}

function PreviewTitle(): JSX.Element {
  return <h2 class="text-sm font-semibold text-ink">{t('automations.webhook.preview')}</h2>
}

function Places(props: { placeholders: Preview['placeholders'] }): JSX.Element {
  const those = (state: Preview['placeholders'][number]['state']) => props.placeholders.filter((one) => one.state === state)
  return (
    <div aria-live="polite" class="flex flex-col gap-1.5">
      <Warning
        sentence={t('automations.webhook.missing', { count: those('missing').length })}
        paths={those('missing').map((one) => one.path)}
      />
      <Warning sentence={t('automations.webhook.cut', { count: those('cut').length })} paths={those('cut').map((one) => one.path)} />
      <Show when={those('missing').length + those('cut').length === 0}>
        <p class="text-xs text-ink-3">{t('automations.webhook.allFilled', { count: those('filled').length })}</p>
      </Show>
    </div>
  )
}

function Warning(props: { sentence: string; paths: string[] }): JSX.Element {
  return (
    <Show when={props.paths.length > 0}>
      <div class="flex items-start gap-2 rounded-lg bg-warn-soft px-3 py-2 text-xs text-warn">
        <TriangleAlert size={14} class="mt-0.5 shrink-0" aria-hidden="true" />
        <p class="min-w-0">
          {props.sentence}{' '}
          <For each={props.paths}>
            {(path, at) => (
              <>
                {at() > 0 ? ', ' : ''}
                <code class="font-mono wrap-anywhere">{`{${path}}`}</code>
              </>
            )}
          </For>
        </p>
      </div>
    </Show>
  )
}
