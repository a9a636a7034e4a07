// What vitest runs before the tests of the built program.
export { build as setup } from './setup.mjs'
