import { type BeforeLeaveEventArgs, useBeforeLeave } from '@solidjs/router'
import { createSignal, type JSX, onCleanup, onMount } from 'solid-js'
import { ConfirmDialog } from './ConfirmDialog.tsx'

/** The new address is a part of the same page, so no changes are lost. */
function staysOn({ from, to }: BeforeLeaveEventArgs): boolean {
  return typeof to === 'string' && new URL(to, `http://page${from.pathname}`).pathname === from.pathname
}

/** Asks before unsaved changes are left, in the page and when the window closes. */
export function UnsavedGuard(props: { isDirty: () => boolean; title: string; leave: string; children: JSX.Element }): JSX.Element {
  const [leave, setLeave] = createSignal<(() => void) | null>(null)
  useBeforeLeave((event) => {
    if (!props.isDirty() || event.defaultPrevented || staysOn(event)) return
    event.preventDefault()
    setLeave(() => () => event.retry(true))
  })
  const onUnload = (event: BeforeUnloadEvent) => props.isDirty() && event.preventDefault()
  onMount(() => window.addEventListener('beforeunload', onUnload))
  onCleanup(() => window.removeEventListener('beforeunload', onUnload))
  return (
    <ConfirmDialog
      open={leave() !== null}
      onClose={() => setLeave(null)}
      title={props.title}
      confirm={props.leave}
      tone="bad"
      onConfirm={() => leave()?.()}
    >
      {props.children}
    </ConfirmDialog>
  )
}
