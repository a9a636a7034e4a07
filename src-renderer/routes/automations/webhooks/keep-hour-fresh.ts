import { createEffect, on } from 'solid-js'
import type { Trigger } from '../../../../src-runner/contract/triggers.ts'
import { useMinutes } from '../../../lib/now.ts'

/** Fetches again while a count of the last hour is shown: it decreases with time, and no event announces that. */
export function keepHourFresh(triggers: () => readonly Trigger[], refetch: () => void): void {
  createEffect(
    on(
      useMinutes(),
      () => {
        if (triggers().some((trigger) => trigger.firesThisHour > 0)) refetch()
      },
      { defer: true },
    ),
  )
}
