import Check from 'lucide-solid/icons/check'
import Copy from 'lucide-solid/icons/copy'
import { createSignal, onCleanup, Show } from 'solid-js'
import { t } from '../lib/language.ts'
import { Button } from './Button.tsx'
import { tryToCopy } from './copy.ts'
import { IconButton } from './IconButton.tsx'

/** Copies a text; says so for two seconds. `copy` is the platform's way (`useDesktop().copyText`). */
export function CopyButton(props: {
  text: string | (() => string)
  copy: (text: string) => Promise<void>
  label?: string
  size?: 'sm' | 'md'
  show?: 'icon' | 'text'
}) {
  const [copied, setCopied] = createSignal(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  onCleanup(() => clearTimeout(timer))
  const copy = async () => {
    if (!(await tryToCopy(() => props.copy(typeof props.text === 'string' ? props.text : props.text())))) return
    setCopied(true)
    clearTimeout(timer)
    timer = setTimeout(() => setCopied(false), 2000)
  }
  const label = () => (copied() ? t('common.copied') : (props.label ?? t('common.copy')))
  return (
    <>
      <Show
        when={props.show === 'text'}
        fallback={<IconButton icon={copied() ? Check : Copy} label={label()} size={props.size} onClick={() => void copy()} />}
      >
        <Button size={props.size} icon={copied() ? Check : Copy} onClick={() => void copy()}>
          {label()}
        </Button>
      </Show>
      <span class="sr-only" aria-live="polite">
        {copied() ? t('common.copied') : ''}
      </span>
    </>
  )
}
