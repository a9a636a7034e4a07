import type { JSX } from 'solid-js'
import { t } from '../../lib/language.ts'

/** Lets the person choose an archive. `children` makes the button. */
export function FileInput(props: { onFile: (file: File) => void; children: (choose: () => void) => JSX.Element }): JSX.Element {
  let input!: HTMLInputElement
  return (
    <>
      <input
        ref={(element) => (input = element)}
        type="file"
        class="hidden"
        accept=".zip,.tar,.tgz,.gz,.skill"
        aria-label={t('skills.install.file')}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0]
          // The same file can be chosen again.
          event.currentTarget.value = ''
          if (file !== undefined) props.onFile(file)
        }}
      />
      {props.children(() => input.click())}
    </>
  )
}
