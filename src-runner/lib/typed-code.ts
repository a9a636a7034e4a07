/** Without letters that look like digits or like each other. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ'

/** The number as a code of `length` characters for a person to type. */
export function typedCodeOf(number: number, length: number): string {
  let rest = number
  let code = ''
  for (let i = 0; i < length; i++) {
    code += ALPHABET[rest % ALPHABET.length]
    rest = Math.floor(rest / ALPHABET.length)
  }
  return code
}
