import { AppError } from '../../../kit/errors.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

type Routes =
  | 'listSchedules'
  | 'createSchedule'
  | 'previewCron'
  | 'listUpcomingRuns'
  | 'getSchedule'
  | 'updateSchedule'
  | 'deleteSchedule'
  | 'runScheduleNow'
  | 'pauseSchedule'
  | 'resumeSchedule'
  | 'listOccurrences'
  | 'runTick'

export function scheduleHandlers(_deps: HandlerDeps): Pick<Handlers, Routes> {
  const notYet = () => {
    throw new AppError('internal', 'Not there yet.')
  }
  return {
    listSchedules: notYet,
    createSchedule: notYet,
    previewCron: notYet,
    listUpcomingRuns: notYet,
    getSchedule: notYet,
    updateSchedule: notYet,
    deleteSchedule: notYet,
    runScheduleNow: notYet,
    pauseSchedule: notYet,
    resumeSchedule: notYet,
    listOccurrences: notYet,
    runTick: notYet,
  }
}
