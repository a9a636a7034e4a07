import { t } from '../lib/language.ts'
import { toast } from './Toasts.tsx'

/** Copies, and tells the person if it did not work. Returns whether it did. */
export async function tryToCopy(copy: () => Promise<void>): Promise<boolean> {
  try {
    await copy()
    return true
  } catch {
    toast({ tone: 'bad', text: t('common.copyFailed') })
    return false
  }
}
