import type { Services } from '../../platform/services.ts'
import { AppError } from '../../lib/errors.ts'

/**
 * Sets a secret (null: deletes it), then runs `write`, which stores the row that names it. The vault and the database share
 * no transaction: a crash in between leaves a secret without a row, which is harmless, and never a row without its secret.
 * If `write` fails, the old secret is put back, unless its row is gone: nobody would find it again.
 */
export async function writeWithSecret<T>(
  { vault, log }: Pick<Services, 'vault' | 'log'>,
  key: string,
  secret: string | null,
  write: () => T,
): Promise<T> {
  const put = (value: string | null) => (value === null ? vault.delete(key) : vault.set(key, value))
  const before = await vault.get(key)
  await put(secret)
  try {
    return write()
  } catch (error) {
    const isGone = error instanceof AppError && error.code.endsWith('_not_found')
    await put(isGone ? null : before).catch((cause: unknown) => log.error({ error: cause, key }, 'could not put back a secret'))
    throw error
  }
}
