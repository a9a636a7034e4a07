/** The look that every field a person writes into shares. */
export const FIELD_CLASS =
  'w-full rounded-md border border-line-strong bg-surface px-2.5 text-sm text-ink transition-colors duration-100 hover:border-ink-3 focus:border-accent-ink focus:outline-2 focus:-outline-offset-1 focus:outline-accent-ink disabled:opacity-50 aria-invalid:border-bad data-invalid:border-bad'
export const LABEL_CLASS = 'flex items-baseline gap-2 text-sm font-medium text-ink'
export const HINT_CLASS = 'text-xs text-ink-3'
export const PROBLEM_CLASS = 'text-xs text-bad'

export type FieldProps = {
  label: string
  /** The label is read out but not shown, where the place says it already. */
  hideLabel?: boolean
  hint?: string
  /** What is wrong with the value; null or absent when nothing is. */
  problem?: string | null
  optional?: boolean
}
