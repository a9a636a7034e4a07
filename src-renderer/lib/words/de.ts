import type { Words } from '../language.ts'
import { databaseTrouble, doctor } from './de/findings.ts'
import { policy } from './de/policy.ts'

export const de: Words = { policy, databaseTrouble, doctor }
