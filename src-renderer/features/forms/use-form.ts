import { createMemo, createSignal } from 'solid-js'
import { createStore, reconcile, unwrap } from 'solid-js/store'
import { ApiError } from '../../api/client.ts'

export type Form<F extends object> = {
  readonly fields: F
  /** What stood there when nothing was changed yet. */
  readonly base: () => F
  change: <K extends keyof F>(field: K, value: F[K]) => void
  /** Fills in something else. `isChange`: it is to be saved, and lost when it is not. */
  fill: (fields: F, isChange?: boolean) => void
  isDirty: () => boolean
  /** What is wrong with a field: what the runner said of it, or once it was tried what can be seen. */
  problemOf: (field: keyof F) => string | null
  problemCount: () => number
  /** What went wrong that is no field's matter; null when nothing did. */
  trouble: () => unknown
  /** Sends what is there unless something is wrong with it. Gives whether it was taken. */
  submit: (send: (fields: F) => Promise<void>) => Promise<boolean>
}

/** A form whose fields are checked here before they are sent, and once more by the runner. */
export function useForm<F extends object>(
  first: F,
  check: (fields: F) => Partial<Record<keyof F, string>>,
  fieldOfIssue: (path: string) => keyof F | null,
): Form<F> {
  const [base, setBase] = createSignal<F>(structuredClone(first))
  const [fields, setFields] = createStore<F>(structuredClone(first))
  const [issues, setIssues] = createSignal<Partial<Record<keyof F, string>>>({})
  const [wasTried, setTried] = createSignal(false)
  const [trouble, setTrouble] = createSignal<unknown>(null)
  const own = createMemo(() => check(fields))
  const isDirty = createMemo(() => JSON.stringify(fields) !== JSON.stringify(base()))

  const takeProblem = (thrown: unknown) => {
    const known: Partial<Record<keyof F, string>> = {}
    for (const issue of thrown instanceof ApiError ? thrown.issues : []) {
      const field = fieldOfIssue(issue.path)
      if (field !== null) known[field] ??= issue.message
    }
    setIssues(() => known)
    setTrouble(() => (Object.keys(known).length === 0 ? thrown : null))
    focusFirstProblem()
  }
  return {
    fields,
    base,
    change(field, value) {
      setFields(field as never, value as never)
      setIssues((all) => ({ ...all, [field]: undefined }))
    },
    fill(next, isChange = false) {
      if (!isChange) setBase(() => structuredClone(next))
      setFields(reconcile(structuredClone(next)))
      setIssues({})
    },
    isDirty,
    problemOf: (field) => issues()[field] ?? (wasTried() ? (own()[field] ?? null) : null),
    problemCount: () => {
      const said = Object.entries(issues()).flatMap(([field, message]) => (message === undefined ? [] : [field]))
      return new Set([...(wasTried() ? Object.keys(own()) : []), ...said]).size
    },
    trouble,
    async submit(send) {
      setTried(true)
      setTrouble(null)
      if (Object.keys(own()).length > 0) {
        focusFirstProblem()
        return false
      }
      try {
        const sent = structuredClone(unwrap(fields))
        await send(sent)
        setBase(() => sent)
        setTried(false)
        return true
      } catch (thrown) {
        takeProblem(thrown)
        return false
      }
    },
  }
}

function focusFirstProblem(): void {
  requestAnimationFrame(() => {
    const field = document.querySelector<HTMLElement>('form [aria-invalid=true], form [data-invalid]')
    field?.focus()
    field?.scrollIntoView({ block: 'center' })
  })
}
