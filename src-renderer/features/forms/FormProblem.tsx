import { type JSX, Show } from 'solid-js'
import { sentenceOf } from '../../api/problem.ts'

/** Why the runner or the service refused, under the fields. */
export function FormProblem(props: { error: unknown }): JSX.Element {
  return (
    <Show when={props.error}>
      {(thrown) => (
        <p role="alert" class="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad wrap-anywhere">
          {sentenceOf(thrown())}
        </p>
      )}
    </Show>
  )
}
