import { createUniqueId, type JSX, Show } from 'solid-js'
import { t } from '../lib/language.ts'
import { type FieldProps, HINT_CLASS, LABEL_CLASS, PROBLEM_CLASS } from './field.ts'

export type FieldAria = { id: string; 'aria-describedby': string | undefined; 'aria-invalid': 'true' | undefined }

/** Label above, hint or problem below, tied to the field for screen readers. */
export function FieldFrame(props: FieldProps & { class?: string; children: (aria: () => FieldAria) => JSX.Element }) {
  const id = createUniqueId()
  const aria = (): FieldAria => ({
    id,
    'aria-describedby': props.problem || props.hint ? `${id}-note` : undefined,
    'aria-invalid': props.problem ? 'true' : undefined,
  })
  return (
    <div class={`flex min-w-0 flex-col gap-1.5 ${props.class ?? ''}`}>
      <label for={id} class={props.hideLabel ? 'sr-only' : LABEL_CLASS}>
        {props.label}
        <Show when={props.optional}>
          <span class="text-xs font-normal text-ink-3">{t('common.optional')}</span>
        </Show>
      </label>
      {props.children(aria)}
      <Show
        when={props.problem}
        fallback={
          <Show when={props.hint}>
            {(hint) => (
              <p id={`${id}-note`} class={HINT_CLASS}>
                {hint()}
              </p>
            )}
          </Show>
        }
      >
        {(problem) => (
          <p id={`${id}-note`} class={PROBLEM_CLASS} role="alert">
            {problem()}
          </p>
        )}
      </Show>
    </div>
  )
}
