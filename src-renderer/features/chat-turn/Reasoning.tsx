import { t } from '../../lib/language.ts'
import { Fold } from '../../ui/Fold.tsx'

/** The model's reasoning, folded away. */
export function Reasoning(props: { text: string }) {
  return (
    <Fold label={t('turn.reasoning')}>
      <p class="mt-1 mb-2 ml-1.5 border-l-2 border-line pl-3 text-sm leading-5.5 wrap-anywhere whitespace-pre-wrap text-ink-2">
        {props.text}
      </p>
    </Fold>
  )
}
