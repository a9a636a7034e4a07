import { For, type JSX } from 'solid-js'
import { visibleText } from '../../lib/visible-text.ts'
import { DiffView } from './DiffView.tsx'
import { type FileDiff, splitDiff } from './unified-diff.ts'

/** The diffs that a coding program sent with a call that changes files, or null. */
export function diffsOfCall({ name, args }: { name: string | null; args: unknown }): FileDiff[] | null {
  if (name !== 'code_edit' || typeof args !== 'object' || args === null) return null
  const { diff } = args as { diff?: unknown }
  const diffs = typeof diff === 'string' ? splitDiff(diff) : []
  return diffs.length === 0 ? null : diffs
}

/** Each file with its diff. */
export function CallDiffs(props: {
  diffs: readonly FileDiff[]
  /** A class for the maximum height of each. */ height?: string
}): JSX.Element {
  return (
    <For each={props.diffs}>
      {({ path, diff }) => (
        <div class="flex min-w-0 flex-col gap-1">
          <p class="font-mono text-xs wrap-anywhere text-ink-2">{visibleText(path)}</p>
          <DiffView path={path} diff={diff} height={props.height} />
        </div>
      )}
    </For>
  )
}
