import { hash } from 'node:crypto'
import type { PasswordHashing } from '../sign-in/auth-sessions.ts'

/** For tests that are not about the hash, which takes a tenth of a second. */
export const QUICK_HASHING: PasswordHashing = {
  hash: async (password) => hash('sha256', password),
  verify: async (given) => given.hash === hash('sha256', given.password),
}
