/** Without letters that are taken for digits, or for each other. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const CODE_CHARS = 4

/**
 * Four characters by which a person can name an approval in a message: `approve 7F3K`. Made of the random end of its id.
 * Two that wait at once may share one, one time in a million; whoever reads a code has to look for that.
 */
export function approvalCode(approvalId: string): string {
  let bits = Number.parseInt(approvalId.replaceAll('-', '').slice(-5), 16)
  let code = ''
  for (let i = 0; i < CODE_CHARS; i++) {
    code = ALPHABET[bits % 32]! + code
    bits = Math.floor(bits / 32)
  }
  return code
}

/** As people type it: small letters, and O, I and L for the digits that they look like. */
export function readApprovalCode(typed: string): string {
  return typed.toUpperCase().replaceAll('O', '0').replace(/[IL]/g, '1')
}
