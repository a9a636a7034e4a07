import { databaseTrouble, doctor } from './en/findings.ts'
import { policy } from './en/policy.ts'

export const en = { policy, databaseTrouble, doctor }
