import { type Accessor, createEffect, createMemo, createSignal, on } from 'solid-js'
import { createStore, reconcile, unwrap } from 'solid-js/store'
import { ApiError } from '../../api/client.ts'
import { issueText } from '../../api/problem.ts'

export type Form<F extends object> = {
  readonly fields: F
  /** The fields without the unsaved changes. */
  readonly base: Accessor<F>
  change: <K extends keyof F>(field: K, value: F[K]) => void
  /** Replaces all fields. With `isChange` they count as unsaved changes. */
  fill: (fields: F, isChange?: boolean) => void
  /** Discards the unsaved changes. */
  reset: () => void
  isDirty: Accessor<boolean>
  /** Saved, and not changed since. */
  isSaved: Accessor<boolean>
  /** There are unsaved changes, and what is stored has changed too. */
  isStale: Accessor<boolean>
  /** The problem that the runner found in a field, or after a first try to save, the one that `check` finds. */
  problemOf: (field: keyof F) => string | null
  /** Which entry of a list the problem is about, if the runner said so. */
  problemAt: (field: keyof F) => number | null
  problemCount: Accessor<number>
  /** Why saving failed, if not because of a field. */
  trouble: Accessor<unknown>
  /** Sends the fields unless one has a problem. What `send` returns is called once the form counts as saved, to leave the page. */
  submit: (send: (fields: F) => Promise<(() => void) | void>) => Promise<void>
}

type FormOptions<F> = {
  first: F
  /** The problems that can be found before anything is sent. */
  check: (fields: F) => Partial<Record<keyof F, string>>
  /** The field that an issue of the runner is about. */
  fieldOfIssue: (path: string) => keyof F | null
  /** What is stored now. The form takes it over when it changes, unless there are unsaved changes. */
  stored?: Accessor<F | null>
}

type Issue<F> = { field: keyof F; text: string; at: number | null }

export function useForm<F extends object>({ first, check, fieldOfIssue, stored = () => null }: FormOptions<F>): Form<F> {
  const [base, setBase] = createSignal<F>(copyOf(first))
  const [fields, setFields] = createStore<F>(copyOf(first))
  const [issues, setIssues] = createSignal<readonly Issue<F>[]>([])
  const [wasTried, setTried] = createSignal(false)
  const [isSaved, setSaved] = createSignal(false)
  const [trouble, setTrouble] = createSignal<unknown>(null)
  const own = createMemo(() => check(fields))
  const isDirty = createMemo(() => !isSame(fields, base()))
  const storedText = createMemo(() => JSON.stringify(stored()))

  const fill = (next: F, isChange = false) => {
    if (!isChange) setBase(() => copyOf(next))
    setFields(reconcile(copyOf(next)))
    setIssues([])
  }
  createEffect(
    on(
      storedText,
      () => {
        const now = stored()
        if (now !== null && !isDirty()) fill(now)
      },
      { defer: true },
    ),
  )

  const takeProblem = (thrown: unknown) => {
    const known = (thrown instanceof ApiError ? thrown.issues : []).flatMap((issue): Issue<F>[] => {
      const field = fieldOfIssue(issue.path)
      const at = /\.(\d+)/.exec(issue.path)?.[1]
      return field === null ? [] : [{ field, text: issueText(issue), at: at === undefined ? null : Number(at) }]
    })
    setIssues(known)
    setTrouble(() => (known.length === 0 ? thrown : null))
    focusFirstProblem()
  }
  const issueOf = (field: keyof F) => issues().find((issue) => issue.field === field)
  return {
    fields,
    base,
    change(field, value) {
      setFields(field as never, value as never)
      setIssues((all) => all.filter((issue) => issue.field !== field))
      setSaved(false)
    },
    fill,
    reset: () => fill(stored() ?? base()),
    isDirty,
    isSaved,
    isStale: () => isDirty() && stored() !== null && !isSame(stored()!, base()),
    problemOf: (field) => issueOf(field)?.text ?? (wasTried() ? (own()[field] ?? null) : null),
    problemAt: (field) => issueOf(field)?.at ?? null,
    problemCount: () => new Set([...(wasTried() ? Object.keys(own()) : []), ...issues().map(({ field }) => field)]).size,
    trouble,
    async submit(send) {
      setTried(true)
      setTrouble(null)
      if (Object.keys(own()).length > 0) return focusFirstProblem()
      const sent = copyOf(fields)
      try {
        const leave = await send(sent)
        setBase(() => sent)
        setTried(false)
        setSaved(true)
        leave?.()
      } catch (thrown) {
        takeProblem(thrown)
      }
    },
  }
}

/** A deep copy. The fields may hold parts of a store, which cannot be cloned as they are. */
function copyOf<F extends object>(fields: F): F {
  return structuredClone(unwrap(fields))
}

function isSame(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function focusFirstProblem(): void {
  requestAnimationFrame(() => {
    const field = document.querySelector<HTMLElement>('form [aria-invalid=true], form [data-invalid]')
    field?.focus()
    field?.scrollIntoView({ block: 'center' })
  })
}
