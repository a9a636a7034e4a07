import { toast } from '../ui/Toasts.tsx'
import { sentenceOf } from './problem.ts'

/** Shows an error as a toast, for actions without a place of their own to show it. */
export function toastError(thrown: unknown): void {
  toast({ tone: 'bad', text: sentenceOf(thrown) })
}
