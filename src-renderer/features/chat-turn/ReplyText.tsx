import { createSignal, Show } from 'solid-js'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { Markdown } from '../../ui/Markdown.tsx'

/** A model's text. Opening a link asks first: in the app the desktop asks, in a browser this component. */
export function ReplyText(props: { text: string; streaming?: boolean }) {
  const desktop = useDesktop()
  const [askedUrl, setAskedUrl] = createSignal<string | null>(null)
  const open = (url: string) => (desktop.inApp ? void desktop.openExternal(url) : setAskedUrl(url))
  return (
    <>
      <Markdown text={props.text} streaming={props.streaming} onOpenLink={open} copy={(text) => desktop.copyText(text)} />
      <Show when={askedUrl()}>
        {(url) => (
          <ConfirmDialog
            open
            onClose={() => setAskedUrl(null)}
            title={t('turn.openLink', { host: new URL(url()).host })}
            confirm={t('turn.openLinkNow')}
            onConfirm={() => void desktop.openExternal(url())}
          >
            <p class="font-mono text-xs wrap-anywhere">{url()}</p>
          </ConfirmDialog>
        )}
      </Show>
    </>
  )
}
